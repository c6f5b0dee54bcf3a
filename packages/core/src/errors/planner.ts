import { ErgonError, type ErrorOptions } from "./ergon-error.ts";

/** What can go wrong between a request and its plan. */
export type PlannerErrorCode =
  | "request_invalid"
  | "planner_failed"
  | "plan_refused"
  | "tool_unknown"
  | "waiting"
  | "tools_failed";

export function plannerError(
  code: PlannerErrorCode,
  message: string,
  options?: ErrorOptions,
): ErgonError<PlannerErrorCode> {
  return new ErgonError(code, message, options);
}
