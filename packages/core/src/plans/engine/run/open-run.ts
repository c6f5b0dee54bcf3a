import { storeError } from "../../../errors/store.ts";
import type { SessionRef } from "../../../ports/engine.ts";
import type { SessionRecord } from "../../../ports/state-store.ts";
import { isBlobRef } from "../../../schema/blob.ts";
import type { Json } from "../../../schema/values/json.ts";
import type { CompiledPlan } from "../../compiled-plan.ts";
import { cursorOf } from "../../cursor.ts";
import { openVisits } from "../../visits.ts";
import { stepOf } from "../../interpreter.ts";
import { resolveWith } from "../../pointer/resolve.ts";
import type { BlobCache } from "../effects/blob-cache.ts";
import type { EngineDeps } from "../engine-deps.ts";
import { evaluateStep } from "../effects/evaluate-step.ts";
import { createRunData, type RunData } from "./run-data.ts";
import { newRunState, type RunState } from "./run-state.ts";

/** Brings a session's run back into memory: its cursor, the context of its open lists, the items of its open loops. */
export async function openRunState(
  deps: EngineDeps & { readonly blobCache: BlobCache },
  record: SessionRecord,
  plan: CompiledPlan,
): Promise<RunState> {
  const cursor = cursorOf(record);
  if (cursor === null) throw storeError("store_corrupt", `Session ${record.core.sessionId} has no run to take up.`);
  const data = await openRunData(deps, { owner: record.owner, sessionId: record.core.sessionId }, record.input ?? {});
  await data.openScope("");
  for (const { place, frame, position } of openVisits(cursor)) {
    if (place.scope !== "") await data.openScope(place.scope);
    const step = stepOf(plan, frame.at);
    if (step.type !== "loop_over_items" || frame.state.kind !== "spread") continue;
    const loaded = new Map<string, unknown>();
    const answer = await resolveWith(
      () => evaluateStep(plan.dataOf(step.id), data.view(place, loaded)),
      (loads) => data.load({ place, position }, loads, loaded),
    );
    if (answer.kind === "value" && answer.items !== undefined) {
      data.bindLoop(position, { alias: step.itemAlias, items: answer.items });
    }
  }
  return newRunState(record, plan, data, cursor);
}

export async function openRunData(
  deps: EngineDeps & { readonly blobCache: BlobCache },
  session: SessionRef,
  input: Json,
): Promise<RunData> {
  const opened = isBlobRef(input) ? await deps.blobCache.load(session.owner, input) : input;
  return createRunData({ store: deps.store, blobs: deps.blobCache, ...session, input: opened });
}
