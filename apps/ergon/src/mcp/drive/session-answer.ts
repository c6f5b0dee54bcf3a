import { Json, type SessionCore, SessionStatus } from "@ergon/core";
import { ErrorRecord, OpenWait, SessionContext } from "@ergon/core/schema";
import type { SessionView } from "@ergon/core/engine";
import { z } from "zod";
import { outputSchema } from "./answers.ts";

/** What a client is told of a session. */
export const SessionAnswer = z.object({
  sessionId: z.string(),
  status: SessionStatus,
  planId: z.string().optional(),
  runId: z.string().optional().describe("the id that the run was started with"),
  finalResponse: Json.optional().describe("the plan's result, once it has completed"),
  waiting: z.array(
    OpenWait.pick({ stepId: true, path: true, kind: true, message: true, inputSchema: true, approvalId: true }),
  ),
  error: ErrorRecord.optional(),
  updatedAt: z.string(),
  next: z.string().optional().describe("what to do now"),
});
export type SessionAnswer = z.infer<typeof SessionAnswer>;

/** The same with everything that the session's steps have written. */
const WholeSession = SessionAnswer.extend({ context: SessionContext });

export function sessionAnswer({ core, context }: Pick<SessionView, "core" | "context">): SessionAnswer {
  const { sessionId, status, currentPlanId, runId, lastError, updatedAt } = core;
  const waiting = core.waiting.map(({ stepId, path, kind, message, inputSchema, approvalId }) => ({
    stepId,
    path,
    kind,
    message,
    ...(inputSchema === undefined ? {} : { inputSchema }),
    ...(approvalId === undefined ? {} : { approvalId }),
  }));
  const next = nextStep(core);
  const finished = status === "completed" && context["finalResponse"] !== undefined;
  return {
    sessionId,
    status,
    ...(currentPlanId === undefined ? {} : { planId: currentPlanId }),
    ...(runId === undefined ? {} : { runId }),
    ...(finished ? { finalResponse: context["finalResponse"] } : {}),
    waiting,
    ...(lastError === undefined ? {} : { error: errorOf(lastError) }),
    updatedAt,
    ...(next === undefined ? {} : { next }),
  };
}

export const SESSION_OUTPUT = outputSchema(z.toJSONSchema(SessionAnswer, { unrepresentable: "any" }));
export const WHOLE_SESSION_OUTPUT = outputSchema(z.toJSONSchema(WholeSession, { unrepresentable: "any" }));

function errorOf({ code, message, retryable, details }: ErrorRecord): ErrorRecord {
  return { code, message, retryable, ...(details === undefined ? {} : { details }) };
}

function nextStep({ sessionId, status, waiting }: SessionCore): string | undefined {
  const answerable = waiting.filter(({ approvalId }) => approvalId === undefined);
  const asked = waiting.flatMap(({ approvalId }) => approvalId ?? []);
  const [wait] = answerable;
  if (status === "paused_on_human" && wait === undefined && asked.length > 0) {
    return `A person must approve this, and only they can: ask the user to look at it with "ergon approvals show ${asked[0] ?? ""}" and to answer with "ergon approvals approve ${asked[0] ?? ""}" (or deny). Then look again: get_session with sessionId "${sessionId}" and waitSeconds.`;
  }
  const which = answerable.length > 1 && wait !== undefined ? ` and the step ("${wait.path}" is the first)` : "";
  switch (status) {
    case "running":
      return `Still running, and it goes on by itself. Look again: get_session with sessionId "${sessionId}" and waitSeconds.`;
    case "paused_on_human":
      return `Ask the user, then call resume_session with sessionId "${sessionId}"${which} and the answer as input.`;
    case "paused_on_error":
      return `Ask the user, then call resume_session with sessionId "${sessionId}"${which} and input {"action": "retry" | "skip" | "abort"}.`;
    case "paused":
      return waiting.length === 0 ? undefined : `It waits and goes on by itself. Look again with get_session.`;
    case "completed":
    case "failed":
    case "cancelled":
      return undefined;
  }
}
