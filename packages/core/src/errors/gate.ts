import { ErgonError, type ErrorOptions } from "./ergon-error.ts";

/** Every way in which the gate refuses or a call through it ends badly. */
export const GATE_ERROR_CODES = [
  "tool_not_found",
  "args_invalid",
  "output_invalid",
  "tool_failed",
  "tool_timeout",
  "role_denied",
  "context_missing",
  "energy_exhausted",
  "approval_denied",
  "approval_expired",
  "tool_changed",
  "outcome_unknown",
  "input_required",
  "cancelled",
] as const;
export type GateErrorCode = (typeof GATE_ERROR_CODES)[number];

export function gateError(code: GateErrorCode, message: string, options?: ErrorOptions): ErgonError<GateErrorCode> {
  return new ErgonError(code, message, options);
}
