import type { Json, JsonObject, SessionCore } from "@ergon/core";
import { callOutput } from "@ergon/core/engine";
import type { InputRequiredResult } from "@modelcontextprotocol/server";
import { driveSession } from "./drive-session.ts";
import { tellCall } from "./follow-progress.ts";
import type { McpWorkspace, WithOwner } from "./with-owner.ts";
import type { McpCall } from "../host/surface.ts";

export type CallDrive<R> = {
  /** What the client called, and with what. */
  readonly tool: string;
  readonly args: JsonObject;
  readonly called: { readonly toolId: string; readonly args: JsonObject };
  /** Of a tool that may ask or tell of its progress: its call is a session from the start, which can be followed. */
  readonly follow?: boolean;
  readonly result: (output: Json, workspace: McpWorkspace) => R | Promise<R>;
  /** For a client that is not asked: a person has to do something first. */
  readonly waiting: (waits: WaitingCall) => R;
};

/** What a call waits for that has become a session. */
export type WaitingCall = {
  readonly code: "approval_required" | "input_required";
  readonly message: string;
  readonly sessionId: string;
  readonly approvalId?: string;
};

/** Calls one tool of the registry for a client; a person who has to approve it is asked in the client where that can be. */
export async function driveCall<R>(
  reach: WithOwner,
  call: McpCall,
  { tool, args, called, follow = false, result, waiting }: CallDrive<R>,
): Promise<R | InputRequiredResult> {
  const { owner, signal } = call;
  return await driveSession<R>(reach, call, {
    tool,
    args,
    tell: tellCall,
    endsWithRequest: follow,
    begin: async () =>
      await reach({ repeatable: false }, async (workspace) => {
        const made = await workspace.engine.callTool({ owner, ...called, follow, signal });
        if (made.kind !== "finished") return { sessionId: made.sessionId };
        return { result: await result(made.output, workspace) };
      }),
    report: async ({ core }) => {
      const waits = waitOf(core);
      if (waits !== undefined) return waiting(waits);
      const { sessionId } = core;
      return await reach({ repeatable: true }, async (workspace) =>
        result(await callOutput(workspace.engine, core, { owner, sessionId }), workspace),
      );
    },
  });
}

function waitOf({ sessionId, waiting: [wait] }: SessionCore): WaitingCall | undefined {
  // What has failed is told as the failure that it is.
  if (wait === undefined || wait.kind === "error") return undefined;
  const { approvalId } = wait;
  if (approvalId === undefined) {
    const message = `The server asks: ${wait.message} Ask the user, then call resume_session with sessionId "${sessionId}" and the answer as input.`;
    return { code: "input_required", message, sessionId };
  }
  const message = `A person must approve this call first: ergon approvals approve ${approvalId}. Then look for its result: get_session with sessionId "${sessionId}".`;
  return { code: "approval_required", message, sessionId, approvalId };
}
