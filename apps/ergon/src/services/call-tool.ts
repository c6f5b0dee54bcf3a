// Calls of single tools, from every door. One that a person must approve first becomes a session of one step: it waits
// there, through restarts too, and whoever called hears of it by the approval's id.
import {
  type AgenticPlan,
  type ApprovalService,
  type EmbeddedEngine,
  type Engine,
  gateError,
  type Json,
  type JsonObject,
  type SessionCore,
  type SessionRef,
} from "@ergon/core";
import { callDirectly, type DirectCallDeps, thrownFrom } from "./direct-call.ts";
import type { CalledTool, CallTool } from "../http/server/http-parts.ts";

export type ToolCallDeps = DirectCallDeps & {
  readonly engine: Pick<EmbeddedEngine, "executePlan" | "settled" | "readSession">;
  readonly approvals: Pick<ApprovalService, "answered">;
};

export function createToolCalls(deps: ToolCallDeps): (request: CallTool) => Promise<CalledTool> {
  const { engine, approvals, ids } = deps;
  return async (request) => {
    const { owner, toolId, args, session, typed, signal } = request;
    const acting = typed?.role ?? session?.mode;
    const role = { ...(acting === undefined ? {} : { role: acting }), approved: typed !== undefined };
    const context = session === undefined ? {} : { context: session.context };
    const caller = { kind: "http", owner, ...role } as const;
    const called = await callDirectly(deps, { toolId, args, caller, signal, ...context });
    if (called.kind === "finished") return { kind: "finished", output: called.output };
    return await callAsSession(request);
  };

  async function callAsSession(request: CallTool): Promise<CalledTool> {
    const { owner, toolId, args, session, conversationId } = request;
    const sessionId = ids.next("call");
    await engine.executePlan({
      owner,
      sessionId,
      create: true,
      isAwaited: true,
      plan: callPlan(toolId, args),
      input: args,
      ...(session === undefined ? {} : { context: session.context }),
      ...(session?.mode === undefined ? {} : { mode: session.mode }),
      ...(conversationId === undefined ? {} : { conversationId }),
    });
    return await outcomeOf({ owner, sessionId }, request);
  }

  /** Until the call has ended, or patience has; what is asked anew meanwhile is waited for, too. */
  async function outcomeOf(ref: SessionRef, { signal, patience }: CallTool): Promise<CalledTool> {
    let asked: string | undefined;
    for (;;) {
      const core = await engine.settled({ ...ref, signal: patience ?? signal });
      const open = core.waiting.find(({ approvalId }) => approvalId !== undefined)?.approvalId;
      const waits = core.status === "running" ? (open ?? asked) : open;
      if (waits === undefined) return { kind: "finished", output: await callOutput(engine, core, ref) };
      if (patience === undefined || patience.aborted || waits === asked)
        return { kind: "needs_approval", approvalId: waits, sessionId: ref.sessionId };
      asked = waits;
      await approvals.answered(waits, patience);
    }
  }
}

/** What a call came to that had become a session. Throws what it failed with. */
export async function callOutput(
  engine: Pick<Engine, "readSession">,
  { status, lastError }: SessionCore,
  ref: SessionRef,
): Promise<Json> {
  if (lastError !== undefined) throw thrownFrom(lastError);
  const { history } = await engine.readSession({ ...ref, historyLimit: 1 });
  const result = history.at(-1)?.result;
  if (status === "completed" && result !== undefined && "output" in result) return result.output;
  throw gateError("cancelled", `The session ${ref.sessionId} of this call is ${status}.`);
}

/** A session of one step. The arguments come as input: what looks like a pointer in them is only a value. */
export function callPlan(toolId: string, args: JsonObject): AgenticPlan {
  const names = Object.keys(args);
  const pointers = names.map((name) => [name, { jsonPath: `$.promptInput[${JSON.stringify(name)}]` }] as const);
  return {
    planId: "call",
    description: `Calls ${toolId}.`,
    parameters: { type: "object", required: names },
    startStepId: "call",
    steps: [{ id: "call", type: "tool_call", toolId, arguments: Object.fromEntries(pointers), onError: "fail" }],
  };
}
