/*
 * The embedded engine: runs plans in this process, on this process's store.
 *
 * It keeps in memory only the runs that have something under way. A run that waits for a person or for time is put
 * down, and taken up again from its cursor when somebody answers or the time has come: nothing is replayed.
 */
import { planError } from "../../errors/plan.ts";
import { isoTime } from "../../ports/clock.ts";
import type { CreateSession, Engine, ExecutePlan, ResumeSession, SessionRef } from "../../ports/engine.ts";
import type { SessionRecord } from "../../ports/state-store.ts";
import type { Json } from "../../schema/json.ts";
import { isSettled, type SessionCore } from "../../schema/session.ts";
import { offload } from "../../tools/offload.ts";
import { stepOf } from "../interpreter.ts";
import { createBlobCache } from "./blob-cache.ts";
import type { EngineDeps, PlanLookup } from "./engine-deps.ts";
import { answerFor, chooseWait } from "./resume-input.ts";
import { createRunPool } from "./run-pool.ts";
import { createSessionReader } from "./session-reader.ts";
import { createSettling } from "./settling.ts";
import { startPlan } from "./start-plan.ts";
import { placedWaits } from "./waits.ts";

/** Runs with something under way at once; a plan beyond that is refused, to be tried again. */
export const MAX_ACTIVE_RUNS = 10_000;
/** An answer can meet a run that is just being put down; it is brought to the one that follows. */
const MAX_DELIVERY_TRIES = 5;

export type EmbeddedEngine = Engine & {
  /** Takes up every unfinished session; resolves when all of them have been. */
  readonly recover: () => Promise<{ readonly takenUp: number }>;
  /** Begins nothing new, lets calls under way end within `graceMs`, leaves the rest for the next start. */
  readonly close: (options?: { readonly graceMs?: number }) => Promise<void>;
  readonly activeRuns: () => number;
};

export function createEngine(given: EngineDeps & { readonly plans: PlanLookup }): EmbeddedEngine {
  const deps = { ...given, blobCache: createBlobCache(given) };
  const reader = createSessionReader(given);
  const settling = createSettling(given.clock);
  const pool = createRunPool({ deps, record: reader.record, onCommit: settling.tell });
  let closing = false;

  return {
    ...reader,
    createSession,
    executePlan: async (request) => {
      refuseWhenClosing();
      const record = await sessionFor(request);
      if (record.frames !== null || pool.has(request.sessionId)) {
        const { status } = record.core;
        throw planError("session_busy", `Session ${request.sessionId} has an unfinished plan (${status}).`, {
          details: { status },
        });
      }
      if (pool.size() >= MAX_ACTIVE_RUNS) {
        throw planError("engine_busy", `${String(MAX_ACTIVE_RUNS)} runs are under way; try again later.`, {
          retryable: true,
        });
      }
      return startPlan({ ...deps, pool }, record, request);
    },
    resume,
    cancel,
    settled: async ({ owner, sessionId, timeoutMs, signal }) => {
      if (timeoutMs === 0) return (await reader.record({ owner, sessionId })).core;
      const deadlineMs = timeoutMs === undefined ? undefined : deps.clock.now() + timeoutMs;
      for (;;) {
        const change = settling.wait(sessionId, {
          ...(deadlineMs === undefined ? {} : { deadlineMs }),
          ...(signal === undefined ? {} : { signal }),
        });
        try {
          const { core } = await reader.record({ owner, sessionId });
          const late = deadlineMs !== undefined && deps.clock.now() >= deadlineMs;
          if (isSettled(core) || late || signal?.aborted === true || closing) return core;
          await change.promise;
        } finally {
          change.stop();
        }
      }
    },
    recover: pool.recover,
    close: async ({ graceMs = 0 } = {}) => {
      closing = true;
      await pool.close(graceMs);
      settling.wakeAll();
    },
    activeRuns: pool.size,
  };

  async function sessionFor({ owner, sessionId, create }: ExecutePlan): Promise<SessionRecord> {
    const known = create === true ? await deps.store.readSession(sessionId) : undefined;
    if (create !== true || known !== undefined) return reader.record({ owner, sessionId });
    return { owner, version: 0, core: newCore(sessionId, isoTime(deps.clock), {}), frames: null };
  }

  async function createSession(request: CreateSession): Promise<SessionCore> {
    refuseWhenClosing();
    const at = isoTime(deps.clock);
    const core = newCore(request.sessionId ?? deps.ids.next("ses"), at, request);
    const { sessionId } = core;
    const kept = Object.entries(request.context ?? {}).map(([key, value]) => ({ key, ...offload(value) }));
    const blobs = kept.flatMap(({ blob }) => (blob === undefined ? [] : [blob]));
    for (const blob of blobs) await deps.blobs.put(blob.bytes, blob.ref.mediaType);
    await deps.store.commit({
      sessionId,
      owner: request.owner,
      session: { core, frames: null },
      expectVersion: 0,
      context: kept.map(({ key, value }) => ({ scope: "", key, value: { kind: "inline", value } })),
      blobs: blobs.map(({ ref }) => ({ ref, at })),
      events: [{ type: "session-created", at, data: { sessionId } }],
      durable: true,
    });
    return core;
  }

  async function resume({ owner, sessionId, step, input }: ResumeSession): Promise<SessionCore> {
    refuseWhenClosing();
    await reader.record({ owner, sessionId });
    for (let tries = 0; tries < MAX_DELIVERY_TRIES; tries++) {
      const run = await pool.take({ owner, sessionId });
      try {
        const { plan, cursor } = run.state;
        const chosen = chooseWait(placedWaits(plan, cursor), step);
        const answer = await answerFor(chosen, stepOf(plan, chosen.wait.stepId), input, deps.clock.now());
        const kept =
          answer.kind === "answered" ? { ...answer, input: await keep({ owner, sessionId }, answer.input) } : answer;
        if (await run.deliver(kept)) return run.state.core;
      } finally {
        pool.release(run);
      }
    }
    throw planError("wait_not_open", `The wait of session ${sessionId} has just been answered.`);
  }

  /** A large answer is kept as a blob, like any large value. */
  async function keep({ owner, sessionId }: SessionRef, input: Json): Promise<Json> {
    const { value, blob } = offload(input);
    if (blob === undefined) return value;
    await deps.blobs.put(blob.bytes, blob.ref.mediaType);
    await deps.store.commit({ sessionId, owner, blobs: [{ ref: blob.ref, at: isoTime(deps.clock) }] });
    return value;
  }

  async function cancel({ owner, sessionId }: SessionRef): Promise<SessionCore> {
    refuseWhenClosing();
    for (let tries = 0; tries < MAX_DELIVERY_TRIES; tries++) {
      const record = await reader.record({ owner, sessionId });
      if (record.frames === null) return cancelUnstarted(record);
      const run = await pool.take({ owner, sessionId });
      if (await run.cancel()) return run.state.core;
      pool.release(run);
    }
    throw planError("session_busy", `Session ${sessionId} changes too fast to be cancelled; try again.`, {
      retryable: true,
    });
  }

  async function cancelUnstarted(record: SessionRecord): Promise<SessionCore> {
    const { sessionId, status } = record.core;
    if (status !== "paused")
      throw planError("session_ended", `Session ${sessionId} has ended already (${status}).`, { details: { status } });
    const at = isoTime(deps.clock);
    const core: SessionCore = { ...record.core, status: "cancelled", updatedAt: at };
    await deps.store.commit({
      sessionId,
      owner: record.owner,
      session: { core, frames: null },
      expectVersion: record.version,
      events: [{ type: "session-cancelled", at, data: { status: "cancelled" } }],
      durable: true,
    });
    return core;
  }

  function refuseWhenClosing(): void {
    if (closing)
      throw planError("engine_stopping", "Ergon is shutting down; try again in a moment.", { retryable: true });
  }
}

function newCore(sessionId: string, at: string, { mode, energyBudget }: Omit<CreateSession, "owner">): SessionCore {
  return {
    sessionId,
    status: "paused",
    createdAt: at,
    updatedAt: at,
    waiting: [],
    run: 0,
    energySpent: 0,
    ...(mode === undefined ? {} : { mode }),
    ...(energyBudget === undefined ? {} : { energyBudget }),
  };
}
