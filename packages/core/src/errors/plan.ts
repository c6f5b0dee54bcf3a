import { ErgonError, type ErrorOptions } from "./ergon-error.ts";

export type PlanErrorCode =
  | "plan_invalid"
  | "plan_not_found"
  | "plan_input_invalid"
  | "pointer_invalid"
  | "pointer_unresolved"
  | "pointer_limit"
  | "condition_type"
  | "pattern_invalid"
  | "not_iterable"
  | "session_busy"
  | "wait_not_open"
  | "wait_ambiguous"
  | "session_ended"
  | "plan_missing"
  | "step_not_found"
  | "step_nested"
  | "step_not_reached"
  | "fork_too_large"
  | "engine_busy"
  | "engine_stopping"
  | "resume_input_invalid"
  | "correction_not_found";

export function planError(code: PlanErrorCode, message: string, options?: ErrorOptions): ErgonError<PlanErrorCode> {
  return new ErgonError(code, message, options);
}
