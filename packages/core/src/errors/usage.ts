import { ErgonError, type ErrorOptions } from "./ergon-error.ts";

/** Bad input from outside: a flag, a setting, a request body. */
export type UsageErrorCode = "usage" | "setting_invalid" | "input_invalid" | "not_available";

export function usageError(code: UsageErrorCode, message: string, options?: ErrorOptions): ErgonError<UsageErrorCode> {
  return new ErgonError(code, message, options);
}
