import { ErgonError, type ErrorOptions } from "./ergon-error.ts";

/** What keeps code from being run at all; what becomes of code that runs is a result. */
export type SandboxErrorCode = "sandbox_busy" | "sandbox_profile_unavailable" | "sandbox_unavailable";

export function sandboxError(
  code: SandboxErrorCode,
  message: string,
  options?: ErrorOptions,
): ErgonError<SandboxErrorCode> {
  return new ErgonError(code, message, options);
}
