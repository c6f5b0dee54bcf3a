/*
 * A call that needs a person's yes. What the desk says of the question decides, at every check anew: the cursor only says
 * that somebody waits, and the answer is where the person gave it.
 */
import { gateError } from "../../../errors/gate.ts";
import type { ApprovalQuestions } from "../../../ports/approval-questions.ts";
import type { Approval } from "../../../schema/approval.ts";
import type { ErrorRecord } from "../../../schema/error.ts";
import type { AllowedCall, CallNeedingApproval } from "../../../tools/gate/call.ts";
import { refusalOf } from "../../refusal.ts";
import type { At, Completion, Effect } from "../../transition.ts";
import { idempotencyKey, type RunState } from "../run/run-state.ts";
import { pathOf } from "./waits.ts";

/** Arguments up to this many characters of JSON wait in the cursor; larger ones are worked out anew, and compared. */
export const MAX_WAITING_ARGS = 8_192;

export type Asked =
  | { readonly kind: "allowed"; readonly call: AllowedCall }
  | { readonly kind: "refused"; readonly error: ErrorRecord }
  | { readonly kind: "waiting"; readonly approval: Approval; readonly args?: AllowedCall["resolvedArgs"] };

export async function askPerson(
  desk: ApprovalQuestions | undefined,
  state: Pick<RunState, "sessionId" | "owner" | "cursor" | "core">,
  effect: Pick<Extract<Effect, { kind: "check" | "invoke" }>, "position" | "amendment">,
  waiting: CallNeedingApproval,
): Promise<Asked> {
  const { reason, boundTo, changes, ...call } = waiting;
  if (desk === undefined) return { kind: "refused", error: nobodyToAsk(call.toolId, reason) };
  const { sessionId, owner, cursor, core } = state;
  const { toolId, resolvedArgs: args, argsHash, reservedUnits: estimatedUnits } = call;
  const approval = await desk.ask({
    owner,
    key: idempotencyKey(sessionId, effect.amendment?.keyPosition ?? effect.position),
    toolId,
    args,
    argsHash,
    estimatedUnits,
    reason,
    sessionId,
    step: pathOf(cursor, effect.position),
    ...(boundTo === undefined ? {} : { boundTo }),
    ...(changes === undefined ? {} : { changes }),
    ...(core.conversationId === undefined ? {} : { conversationId: core.conversationId }),
  });
  if (approval.state === "approved") return { kind: "allowed", call: { ...call, kind: "allowed" } };
  if (approval.state !== "pending")
    return { kind: "refused", error: refusalOf({ ...approval, approvalId: approval.id }) };
  const isSmall = call.requestBlob === undefined && JSON.stringify(args).length <= MAX_WAITING_ARGS;
  return { kind: "waiting", approval, ...(isSmall ? { args } : {}) };
}

/** What has become of the question, for the visit that waits; undefined while it is open. */
export function answerTo(
  { position }: Pick<At, "position">,
  approvalId: string,
  found: Approval | undefined,
  atMs: number,
): Extract<Completion, { kind: "approval" }> | undefined {
  const heard = { kind: "approval", position, atMs, approvalId } as const;
  if (found === undefined) return { ...heard, state: "lost" };
  const { state, decidedBy, feedback } = found;
  if (state === "pending") return undefined;
  return {
    ...heard,
    state,
    ...(decidedBy === undefined ? {} : { by: decidedBy }),
    ...(feedback === undefined ? {} : { feedback }),
  };
}

function nobodyToAsk(toolId: string, reason: string): ErrorRecord {
  const message = `"${toolId}" needs a person's approval (${reason}), and there is nobody here who could be asked.`;
  return gateError("approval_denied", message, { details: { toolId } }).toJSON() as ErrorRecord;
}
