import type { ErrorValue } from "../../errors/ergon-error.ts";
import { isoTime, type Clock } from "../../ports/clock.ts";
import type { BlobRef } from "../../schema/blob.ts";
import type { CallOutcome } from "./call.ts";
import type { Offloaded } from "./offload.ts";

/** `put`: what the tool itself has put into the blob store. */
export type CallResult =
  | { readonly output: Offloaded; readonly put?: readonly BlobRef[] }
  | { readonly error: ErrorValue };

export type Spent = {
  readonly toolId: string;
  readonly idempotencyKey: string;
  readonly durationMs: number;
  readonly energyUnits: number;
};

/** A call's result with the rows that its caller commits together with it. */
export function outcomeWithRows(clock: Clock, result: CallResult, spent: Spent): CallOutcome {
  const { toolId, durationMs, energyUnits } = spent;
  const at = isoTime(clock);
  const energy = { at, cause: "tool", units: energyUnits, toolId, reference: spent.idempotencyKey } as const;
  const data = { cause: "tool", toolId, units: energyUnits };
  const rows = { energy, events: energyUnits > 0 ? [{ type: "energy-spent", at, data } as const] : [] };
  if ("error" in result) return { kind: "failed", error: result.error, energyUnits, durationMs, blobs: [], rows };
  const { value, blob } = result.output;
  const blobs = [...(result.put ?? []).map((ref) => ({ ref })), ...(blob === undefined ? [] : [blob])];
  return { kind: "ok", output: value, energyUnits, durationMs, blobs, rows };
}
