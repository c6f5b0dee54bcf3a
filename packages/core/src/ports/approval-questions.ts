import type { Approval, ToolChange } from "../schema/approval.ts";
import type { JsonObject } from "../schema/values/json.ts";

/*
 * Where the engine puts questions to people. Who is told of them, and who may answer, is not the engine's to know.
 *
 * D1  The question about a call is one: asked again, after whatever crash, it is the same one with the answer it has.
 * D2  Another tool, other arguments, a tool that was changed, or another visit, is another question.
 */
export type ApprovalQuestions = {
  ask(call: CallInQuestion): Promise<Approval>;
  read(id: string): Promise<Approval | undefined>;
  /** Nobody waits for these answers any more. */
  withdraw(ids: readonly string[]): Promise<void>;
};

export type CallInQuestion = {
  readonly owner: string;
  /** The idempotency key of the call: it names the one visit that the answer is for. */
  readonly key: string;
  readonly toolId: string;
  readonly args: JsonObject;
  readonly argsHash: string;
  readonly estimatedUnits: number;
  readonly reason: string;
  readonly boundTo?: string;
  readonly changes?: readonly ToolChange[];
  readonly sessionId: string;
  /** Where the session waits: the path of the step. */
  readonly step: string;
  readonly conversationId?: string;
};
