import type { Clock } from "../../../ports/clock.ts";
import type { StateStore } from "../../../ports/state-store.ts";
import type { Json } from "../../../schema/values/json.ts";
import type { AllowedCall, CallOutcome } from "../../../tools/gate/gate.ts";
import { outcomeWithRows } from "../../../tools/gate/call-outcome.ts";
import type { Tool } from "../../../tools/tool.ts";

/** The newest calls of a session among which an earlier result is looked for. */
export const REUSE_LOOK_BACK = 200;

export type ReusedOutcome = { readonly outcome: CallOutcome; readonly reusedFrom: string };

/**
 * The earlier success of the very same call in this session, while it is fresh (spec 2's actions say how long). Its output
 * is taken as it stands in the journal, blobs included; it costs nothing.
 */
export async function reusable(
  deps: { readonly store: StateStore; readonly clock: Clock },
  tool: Tool | undefined,
  call: AllowedCall,
  at: { readonly sessionId: string; readonly idempotencyKey: string },
): Promise<ReusedOutcome | undefined> {
  if (tool?.freshForMs === undefined) return undefined;
  const { store, clock } = deps;
  const rows = await store.readJournal({
    sessionId: at.sessionId,
    settledOnly: true,
    order: "newest",
    limit: REUSE_LOOK_BACK,
  });
  const nowMs = clock.now();
  for (const { toolId, argsHash, finishedAt, result } of rows) {
    if (toolId !== call.toolId || argsHash !== call.argsHash || finishedAt === undefined || result === undefined)
      continue;
    if (!("output" in result) || !succeeded(result.output)) continue;
    // One that was itself reused is as old as the call that was made.
    const made = result.reused ?? finishedAt;
    const ageMs = nowMs - Date.parse(made);
    // One from the future was made before the clock was set back: its age is not known.
    if (ageMs < 0 || ageMs > tool.freshForMs) continue;
    const spent = { toolId, idempotencyKey: at.idempotencyKey, durationMs: 0, energyUnits: 0 };
    return { outcome: outcomeWithRows(clock, { output: { value: result.output } }, spent), reusedFrom: made };
  }
  return undefined;
}

/** An action that says itself that it failed is asked again. */
function succeeded(output: Json): boolean {
  return typeof output !== "object" || output === null || !("success" in output) || output["success"] !== false;
}
