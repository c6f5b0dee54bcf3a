import { ErgonError, type ErrorOptions } from "./ergon-error.ts";

/** What can go wrong with a language model or an embedder. */
export type ModelErrorCode =
  | "model_timeout"
  | "model_unavailable"
  | "model_rate_limited"
  | "model_refused"
  | "model_answer_invalid"
  | "cancelled";

export function modelError(code: ModelErrorCode, message: string, options?: ErrorOptions): ErgonError<ModelErrorCode> {
  return new ErgonError(code, message, options);
}
