import { didYouMean } from "../schema/values/suggest.ts";
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
  | "once_repeated"
  | "fork_too_large"
  | "engine_busy"
  | "engine_stopping"
  | "resume_input_invalid"
  | "correction_not_found"
  | "tools_missing";

export function planError(code: PlanErrorCode, message: string, options?: ErrorOptions): ErgonError<PlanErrorCode> {
  return new ErgonError(code, message, options);
}

/** Whatever it was asked, the engine begins nothing any more. */
export function engineStopping(): ErgonError<PlanErrorCode> {
  return planError("engine_stopping", "Ergon is shutting down; try again in a moment.", { retryable: true });
}

/** More than these are not named where nothing is near what was asked for. */
export const MAX_PLANS_NAMED = 10;

export function planNotFound(planId: string, known: readonly string[]): ErgonError<PlanErrorCode> {
  const hint = didYouMean(planId, known) || (known.length <= MAX_PLANS_NAMED ? listed(known) : "");
  return planError("plan_not_found", `There is no plan "${planId}".${hint}`, { details: { planId } });
}

function listed(ids: readonly string[]): string {
  return ids.length === 0 ? "" : ` There are: ${ids.join(", ")}.`;
}
