import { ErgonError, type ErrorOptions } from "./ergon-error.ts";

/** Why a tool or a capability file was not taken in. */
export type RegistryErrorCode =
  | "tool_duplicate"
  | "tool_invalid"
  | "registry_full"
  | "schema_invalid"
  | "infrastructure_in_args"
  | "infrastructure_in_defaults"
  | "capability_broken";

export function registryError(
  code: RegistryErrorCode,
  message: string,
  options?: ErrorOptions,
): ErgonError<RegistryErrorCode> {
  return new ErgonError(code, message, options);
}
