import { ErgonError } from "../../errors/ergon-error.ts";
import { gateError } from "../../errors/gate.ts";
import { plannerError } from "../../errors/planner.ts";
import type { ActionResult, MCPResponseData, Outcome } from "../../schema/mcp-loop.ts";
import type { SessionCore } from "../../schema/session.ts";
import { FINALIZE_TOOL } from "../compile-actions.ts";
import type { PlannerAnswer } from "../planner.ts";

export function isOver({ status }: SessionCore): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

export function outcomeOf(core: SessionCore, answered: PlannerAnswer, results: readonly ActionResult[]): Outcome {
  if (core.status === "paused_on_human") return "waiting";
  if (core.status !== "completed") return "failed";
  if (answered.plan.length === 0)
    return answered.question === undefined || answered.isAnswer === true ? "answered" : "waiting";
  const working = results.filter(({ tool }) => tool !== FINALIZE_TOOL);
  if (working.length > 0 && !working.some(({ success }) => success)) return "failed";
  const isWhole = results.every(({ success }) => success) && (answered.leftOut ?? []).length === 0;
  return isWhole ? "answered" : "partial";
}

/** The error of a turn in which nothing came of anything. */
export function noneSucceeded({
  outcome,
  intermediateResults,
}: Omit<MCPResponseData, "trace">): ErgonError | undefined {
  if (outcome !== "failed") return undefined;
  const failures = intermediateResults.filter(({ tool, success }) => !success && tool !== FINALIZE_TOOL);
  const listed = failures.map(({ tool, error = "" }) => `${tool}: ${error}`).join(" ");
  return plannerError("tools_failed", `Nothing that was planned succeeded. ${listed}`);
}

/** Why a run is not completed. */
export function errorOf({ status, lastError, waiting, sessionId }: SessionCore): ErgonError | undefined {
  if (status === "completed") return undefined;
  if (status === "cancelled") return wasCancelled(sessionId, undefined);
  if (lastError !== undefined) {
    const { code, message, retryable, details } = lastError;
    return new ErgonError(code, message, { retryable, ...(details === undefined ? {} : { details }) });
  }
  const waits = waiting.map(({ message }) => message).join(" ");
  const approvals = waiting.flatMap(({ approvalId }) => (approvalId === undefined ? [] : [approvalId]));
  return plannerError("waiting", `Session ${sessionId} waits for a person: ${waits}`, {
    details: { status, ...(approvals.length === 0 ? {} : { approvals }) },
  });
}

export function wasCancelled(sessionId: string, cause: unknown): ErgonError {
  return gateError("cancelled", `The turn of session ${sessionId} was cancelled.`, { cause });
}
