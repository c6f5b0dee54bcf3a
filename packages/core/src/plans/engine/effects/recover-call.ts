import { gateError } from "../../../errors/gate.ts";
import type { SessionRef } from "../../../ports/engine.ts";
import type { StateStore } from "../../../ports/state-store.ts";
import { isBlobRef } from "../../../schema/blob.ts";
import type { ErrorRecord } from "../../../schema/error.ts";
import type { ToolCallStep } from "../../../schema/plan.ts";
import type { AllowedCall } from "../../../tools/gate/gate.ts";
import type { Effect } from "../../transition.ts";
import type { BlobCache } from "./blob-cache.ts";

export type RecoveredCall =
  | { readonly kind: "again"; readonly call: AllowedCall }
  | { readonly kind: "unknown"; readonly error: ErrorRecord };

/**
 * A call whose intent is in the journal and whose result is not, to be made again with the journaled arguments and the
 * same idempotency key. `paused`: its last attempt failed and the next is due. `interrupted`: the process ended while it
 * was under way; if its effects are `once`, nobody knows what became of it.
 */
export async function recoverCall(parts: {
  readonly deps: { readonly store: StateStore; readonly blobCache: BlobCache };
  readonly session: SessionRef;
  readonly effect: Extract<Effect, { kind: "invoke" }>;
  readonly step: ToolCallStep;
  readonly after: "paused" | "interrupted";
}): Promise<RecoveredCall> {
  const { deps, effect, step, after } = parts;
  const { owner, sessionId } = parts.session;
  const row = await deps.store.readJournalRow(sessionId, effect.position);
  if (row === undefined)
    throw new Error(`Session ${sessionId} is in a call at ${effect.position} that its journal does not have.`);
  if (row.effects === "once" && after === "interrupted") {
    const message = `"${row.toolId}" was called and the process ended before its result was recorded; it may have taken effect.`;
    return { kind: "unknown", error: gateError("outcome_unknown", message).toJSON() as ErrorRecord };
  }
  const args = isBlobRef(row.request) ? await deps.blobCache.load(owner, row.request) : row.request;
  const call: AllowedCall = {
    kind: "allowed",
    toolId: row.toolId,
    owner,
    resolvedArgs: args as AllowedCall["resolvedArgs"],
    argsHash: row.argsHash,
    effects: row.effects,
    reservedUnits: 0,
    ...(step.timeoutMs === undefined ? {} : { timeoutMs: step.timeoutMs }),
  };
  return { kind: "again", call };
}
