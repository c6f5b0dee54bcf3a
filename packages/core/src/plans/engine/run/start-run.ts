import { isErgonError } from "../../../errors/ergon-error.ts";
import { planError, planNotFound } from "../../../errors/plan.ts";
import { isoTime } from "../../../ports/clock.ts";
import type { BlobRow, ContextWrite, RunClaim, SessionRecord } from "../../../ports/state-store.ts";
import type { Json, JsonObject } from "../../../schema/values/json.ts";
import type { AgenticPlan } from "../../../schema/plan.ts";
import type { SessionCore } from "../../../schema/session.ts";
import { offload } from "../../../tools/gate/offload.ts";
import type { CompiledPlan } from "../../compiled-plan.ts";
import type { Cursor } from "../../cursor.ts";
import type { BlobCache } from "../effects/blob-cache.ts";
import type { PlanCache } from "../plan-cache.ts";
import type { EngineDeps, PlanLookup, StartRun, WatchModel } from "../engine-deps.ts";
import { openRunData } from "./open-run.ts";
import type { RunPool } from "./run-pool.ts";
import { type Attended, newRunState, type RunState } from "./run-state.ts";
import type { Opening } from "./commit-writer.ts";
import { trailBase } from "../history/run-trail.ts";

export type StartDeps = EngineDeps & {
  readonly blobCache: BlobCache;
  readonly plans: PlanLookup;
  readonly pool: RunPool;
  readonly checkedPlans: PlanCache;
};

/** Checks a plan and writes its first commit; the run goes on by itself from there. */
export async function startPlan(
  deps: StartDeps,
  record: SessionRecord,
  { plan: asked, input: givenInput, context = {}, mode = record.core.mode, conversationId, ...how }: StartRun,
  claim?: RunClaim,
): Promise<SessionCore> {
  const isNamed = typeof asked === "string";
  const given = isNamed ? namedPlan(deps.plans, asked) : asked;
  const { checked, input } = deps.checkedPlans.check({ plan: given, isNamed, input: givenInput, role: mode });
  const { plan, hash } = checked;
  const { lastError: _cleared, runId: _before, ...core } = record.core;
  const run = core.run + 1;
  const started: SessionCore = { ...core, status: "running", run, currentPlanId: plan.planId, waiting: [] };
  if (claim !== undefined) started.runId = claim.id;
  if (mode !== undefined) started.mode = mode;
  if (conversationId !== undefined) started.conversationId = conversationId;
  const cursor = { run, root: { at: plan.startStepId, index: 0, state: { kind: "ready" } } } as const;
  const compiled = deps.pool.compiled(hash, plan);
  return await beginRun(deps, {
    record: { ...record, core: started },
    checked,
    compiled,
    input,
    cursor,
    claim,
    isAwaited: how.isAwaited,
    watchModel: how.watchModel,
    fill: async ({ data }) => {
      // A session that is made with its plan has no context yet.
      const found = record.version === 0 ? [] : await data.openScope("");
      const { writes, blobs } = await keepContext(deps, context);
      data.write(writes, () => undefined);
      const given = new Set(writes.map(({ key }) => key));
      const base = [...found.filter(({ key }) => !given.has(key)), ...writes];
      return { context: [...writes, ...trailBase(compiled, run, base)], blobs };
    },
  });
}

/** Writes the first commit of a run at whichever step its cursor stands. */
export async function beginRun(
  deps: StartDeps,
  begun: {
    readonly record: SessionRecord;
    readonly checked: ReturnType<PlanCache["check"]>["checked"];
    readonly compiled: CompiledPlan;
    readonly input: Json;
    /** The input as the store keeps it, where it is known already. */
    readonly kept?: ReturnType<typeof offload>;
    readonly cursor: Cursor;
    readonly calls?: AbortController;
    readonly attended?: Attended | undefined;
    readonly claim?: RunClaim | undefined;
    readonly isAwaited?: boolean | undefined;
    readonly watchModel?: WatchModel | undefined;
    /** Puts what the run starts with into memory, and gives what its first commit writes of it. */
    readonly fill: (state: RunState) => Promise<Pick<Opening, "context" | "journal" | "blobs" | "checked" | "isHeld">>;
  },
): Promise<SessionCore> {
  const { record, checked, compiled, input, kept = offload(input), cursor, claim } = begun;
  const { isAwaited, watchModel, attended } = begun;
  const { owner } = record;
  const { sessionId } = record.core;
  if (kept.blob !== undefined) await deps.blobs.put(kept.blob.bytes, kept.blob.ref.mediaType);
  const data = await openRunData(deps, { owner, sessionId }, input);
  const fresh = newRunState(record, compiled, data, cursor);
  const state = { ...fresh, watchModel, attended, calls: begun.calls ?? fresh.calls };
  const filled = await begun.fill(state);
  const running = deps.pool.adopt(state, { isAwaited });
  try {
    await running.start({
      ...filled,
      ...(checked.isStored ? {} : { plan: { hash: checked.hash, plan: checked.plan } }),
      ...(claim === undefined ? {} : { run: claim }),
      planHash: checked.hash,
      planChars: checked.isStored ? 0 : checked.chars,
      input: kept.value,
      blobs: [
        ...(filled.blobs ?? []),
        ...(kept.blob === undefined ? [] : [{ ref: kept.blob.ref, at: isoTime(deps.clock) }]),
      ],
    });
  } catch (thrown) {
    deps.pool.drop(running);
    if (!isErgonError(thrown) || thrown.code !== "session_conflict") throw thrown;
    throw planError("session_busy", `Session ${sessionId} has just been given another plan.`, { cause: thrown });
  }
  checked.isStored = true;
  return running.state.core;
}

/** What the caller puts into the context as the run begins; large values as blobs, like any. */
export async function keepContext(
  deps: Pick<StartDeps, "blobs" | "clock">,
  context: JsonObject,
): Promise<{ readonly writes: readonly ContextWrite[]; readonly blobs: readonly BlobRow[] }> {
  const kept = Object.entries(context).map(([key, value]) => ({ key, ...offload(value) }));
  const blobs = kept.flatMap(({ blob }) => (blob === undefined ? [] : [blob]));
  for (const { bytes, ref } of blobs) await deps.blobs.put(bytes, ref.mediaType);
  return {
    writes: kept.map(({ key, value }) => ({ scope: "", key, value: { kind: "inline", value } })),
    blobs: blobs.map(({ ref }) => ({ ref, at: isoTime(deps.clock) })),
  };
}

export function namedPlan(plans: PlanLookup, planId: string): AgenticPlan {
  const plan = plans.get(planId);
  if (plan !== undefined) return plan;
  throw planNotFound(planId, plans.ids());
}
