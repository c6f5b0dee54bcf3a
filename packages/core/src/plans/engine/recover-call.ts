import { gateError } from "../../errors/gate.ts";
import type { BlobStore } from "../../ports/blob-store.ts";
import type { StateStore } from "../../ports/state-store.ts";
import { isBlobRef } from "../../schema/blob.ts";
import type { ErrorRecord } from "../../schema/error.ts";
import type { Json } from "../../schema/json.ts";
import type { ToolCallStep } from "../../schema/plan.ts";
import type { AllowedCall } from "../../tools/gate.ts";
import type { Effect } from "../transition.ts";

export type RecoveredCall =
  | { readonly kind: "again"; readonly call: AllowedCall }
  | { readonly kind: "unknown"; readonly error: ErrorRecord };

/**
 * What a restart makes of a call whose intent is in the journal and whose result is not. It is made again, with the
 * journaled arguments and the same idempotency key, unless its effects are `once`: then nobody knows.
 */
export async function recoverCall(parts: {
  readonly deps: { readonly store: StateStore; readonly blobs: BlobStore };
  readonly sessionId: string;
  readonly effect: Extract<Effect, { kind: "invoke" }>;
  readonly step: ToolCallStep;
}): Promise<RecoveredCall> {
  const { deps, sessionId, effect, step } = parts;
  const row = await deps.store.readJournalRow(sessionId, effect.ord);
  if (row === undefined)
    throw new Error(`Session ${sessionId} is in a call at ${effect.ord} that its journal does not have.`);
  if (row.effects === "once") {
    const message = `"${row.toolId}" was called and the process ended before its result was recorded; it may have taken effect.`;
    return { kind: "unknown", error: gateError("outcome_unknown", message).toJSON() as ErrorRecord };
  }
  const args = isBlobRef(row.request) ? parse(await deps.blobs.get(row.request.$blob)) : row.request;
  const call: AllowedCall = {
    kind: "allowed",
    toolId: row.toolId,
    resolvedArgs: args as AllowedCall["resolvedArgs"],
    argsHash: row.argsHash,
    effects: row.effects,
    reservedUnits: 0,
    ...(step.timeoutMs === undefined ? {} : { timeoutMs: step.timeoutMs }),
  };
  return { kind: "again", call };
}

function parse(bytes: Uint8Array): Json {
  return JSON.parse(new TextDecoder().decode(bytes)) as Json;
}
