import { ErgonError, type ErrorOptions } from "./ergon-error.ts";

/** Who somebody is, and what they may do. */
export type AccessErrorCode =
  | "unauthorized"
  | "forbidden"
  | "host_denied"
  | "origin_denied"
  | "rate_limited"
  | "too_many_requests"
  | "token_not_found"
  | "token_exists"
  | "token_limit"
  | "token_unusable";

export function accessError(
  code: AccessErrorCode,
  message: string,
  options?: ErrorOptions,
): ErgonError<AccessErrorCode> {
  return new ErgonError(code, message, options);
}
