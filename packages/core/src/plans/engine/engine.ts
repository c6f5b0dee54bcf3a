/*
 * The embedded engine: runs plans in this process, on this process's store.
 *
 * It keeps in memory only the runs that have something under way. A run that waits for a person or for time is put
 * down, and taken up again from its cursor when somebody answers or the time has come: nothing is replayed.
 */
import { accessError } from "../../errors/access.ts";
import { isErgonError, toErgonError } from "../../errors/ergon-error.ts";
import { engineStopping, planError } from "../../errors/plan.ts";
import { storeError } from "../../errors/store.ts";
import { usageError } from "../../errors/usage.ts";
import { isoTime } from "../../ports/clock.ts";
import type { CreateSession, Engine, ExecutePlan, ForkSession, ResumeSession, SessionRef } from "../../ports/engine.ts";
import type { ContextWrite, SessionRecord } from "../../ports/state-store.ts";
import type { Json } from "../../schema/values/json.ts";
import { isSettled, type OpenWait, type SessionCore } from "../../schema/session.ts";
import { offload } from "../../tools/gate/offload.ts";
import { cursorOf } from "../cursor.ts";
import { stepOf } from "../interpreter.ts";
import type { Completion, Decision } from "../transition.ts";
import { createSettleApproval, type SettleApproval } from "./waits/approval-answers.ts";
import { createBlobCache } from "./effects/blob-cache.ts";
import { createPlanCache } from "./plan-cache.ts";
import { readCorrections } from "./correction-rows.ts";
import { createCorrections, type Corrections } from "./corrections.ts";
import { deliver, MAX_DELIVERY_TRIES } from "./run/deliver.ts";
import { forkSession } from "./history/fork.ts";
import type { EngineDeps, PlanLookup, StartRun } from "./engine-deps.ts";
import { answerFor, chooseWait } from "./waits/resume-input.ts";
import { type CallUnderWay, createRunPool, type TakeUp } from "./run/run-pool.ts";
import { withdrawQuestions } from "./waits/withdraw.ts";
import { createSessionReader } from "./session-reader.ts";
import { createSettledWaiters } from "./run/settled-waiters.ts";
import { startPlan } from "./run/start-run.ts";
import { trailEnd } from "./history/run-trail.ts";
import { placedWaits } from "./waits/waits.ts";

/** Runs with something under way at once; a plan beyond that is refused, to be tried again. */
export const MAX_ACTIVE_RUNS = 10_000;

export type EmbeddedEngine = Omit<Engine, "executePlan"> & {
  executePlan(request: StartRun): Promise<SessionCore>;
  /** Takes up every unfinished session, or those that it is told; resolves when all of them have been. */
  readonly recover: (which?: TakeUp) => Promise<{ readonly takenUp: number }>;
  /**
   * Runs begin no further step, unless somebody awaits them here; a call whose intent is on its way to the store is made.
   * What is asked of the engine from now on it still does: those who use it are told to end after this, and before `close`.
   */
  readonly drain: () => void;
  /** Resolves when the calls under way have ended whose outcome nobody would know otherwise. */
  readonly onceCallsDone: () => Promise<void>;
  /** Begins nothing new, lets calls under way end within `graceMs`, leaves the rest for the next start. */
  readonly close: (options?: { readonly graceMs?: number }) => Promise<void>;
  readonly activeRuns: () => number;
  /** Calls that were allowed and have not ended. */
  readonly underWay: () => readonly CallUnderWay[];
  /** What the supervisor works with. */
  readonly corrections: Corrections;
  readonly settleApproval: SettleApproval;
};

export function createEngine(given: EngineDeps & { readonly plans: PlanLookup }): EmbeddedEngine {
  const deps = { ...given, blobCache: createBlobCache(given), checkedPlans: createPlanCache(given) };
  const reader = createSessionReader(given);
  const settling = createSettledWaiters(given.clock);
  const pool = createRunPool({ deps, record: reader.record, onCommit: settling.tell });
  let draining = false;
  let closing = false;

  return {
    ...reader,
    createSession,
    executePlan: async (request) => {
      refuseWhenClosing();
      const { sessionId } = request;
      if (!pool.reserve(sessionId)) throw busy(sessionId, (await reader.record(request)).core.status);
      try {
        const record = await sessionFor(request);
        if (record.cursor !== null) throw busy(sessionId, record.core.status);
        refuseWhenFull();
        return await startPlan({ ...deps, pool }, record, request);
      } finally {
        pool.unreserve(sessionId);
      }
    },
    resume,
    cancel,
    fork,
    settled: async ({ owner, sessionId, timeoutMs, signal }) => {
      if (timeoutMs === 0) return (await reader.record({ owner, sessionId })).core;
      const deadlineMs = timeoutMs === undefined ? undefined : deps.clock.monotonic() + timeoutMs;
      for (;;) {
        const change = settling.wait(sessionId, {
          ...(deadlineMs === undefined ? {} : { deadlineMs }),
          ...(signal === undefined ? {} : { signal }),
        });
        try {
          const { core } = await reader.record({ owner, sessionId });
          const late = deadlineMs !== undefined && deps.clock.monotonic() >= deadlineMs;
          if (isSettled(core) || isLeftAlone(core)) {
            if (deps.fsyncEveryStep === true) await deps.store.sync();
            return core;
          }
          if (late || signal?.aborted === true || closing) return core;
          await change.promise;
        } finally {
          change.stop();
        }
      }
    },
    recover: pool.recover,
    drain: () => {
      draining = true;
      pool.drain();
    },
    onceCallsDone: pool.onceCallsDone,
    close: async ({ graceMs = 0 } = {}) => {
      closing = true;
      await pool.close(graceMs);
      settling.wakeAll();
    },
    activeRuns: pool.size,
    underWay: pool.underWay,
    corrections: createCorrections({ deps, pool }),
    settleApproval: createSettleApproval({ deps, pool }),
  };

  /** Without a supervisor, nobody will see to what one of an earlier process had begun to see to. */
  function isLeftAlone({ status }: SessionCore): boolean {
    return status === "paused_on_error" && deps.supervised !== true;
  }

  async function sessionFor({ owner, sessionId, create }: ExecutePlan): Promise<SessionRecord> {
    const known = create === true ? await deps.store.readSession(sessionId) : undefined;
    if (create !== true || known !== undefined) return reader.record({ owner, sessionId });
    return { owner, version: 0, core: newCore(sessionId, isoTime(deps.clock), {}), cursor: null };
  }

  async function createSession(request: CreateSession): Promise<SessionCore> {
    refuseWhenClosing();
    const at = isoTime(deps.clock);
    const core = newCore(request.sessionId ?? deps.ids.next("ses"), at, request);
    const { sessionId } = core;
    if (Object.hasOwn(request.context ?? {}, "__proto__")) {
      throw usageError("input_invalid", '"__proto__" cannot be a key of the context.');
    }
    const kept = Object.entries(request.context ?? {}).map(([key, value]) => ({ key, ...offload(value) }));
    const blobs = kept.flatMap(({ blob }) => (blob === undefined ? [] : [blob]));
    for (const blob of blobs) await deps.blobs.put(blob.bytes, blob.ref.mediaType);
    await deps.store.commit({
      sessionId,
      owner: request.owner,
      session: { core, cursor: null },
      expectVersion: 0,
      context: kept.map(({ key, value }) => ({ scope: "", key, value: { kind: "inline", value } })),
      blobs: blobs.map(({ ref }) => ({ ref, at })),
      events: [{ type: "session-created", at, data: { sessionId } }],
      durable: true,
    });
    return core;
  }

  async function resume({ owner, sessionId, step, input, mayApprove }: ResumeSession): Promise<SessionCore> {
    refuseWhenClosing();
    await reader.record({ owner, sessionId });
    let meant: string | undefined;
    let heard = false;
    const told = await deliver(pool, { owner, sessionId }, async ({ state: { plan, cursor } }) => {
      const waits = placedWaits(plan, cursor);
      // One answer is for one wait: if that has been answered meanwhile, it is not for the next.
      const chosen = meant === undefined ? chooseWait(waits, step) : waits.find(({ position }) => position === meant);
      if (chosen === undefined) return undefined;
      meant = chosen.position;
      const answer = await answerFor(chosen, stepOf(plan, chosen.wait.stepId), input, deps.clock.now());
      if (answer.kind === "reviewed" && mayApprove === false)
        throw accessError("forbidden", "Accepting or refusing a correction needs a token with scope person.");
      // An answer that was heard before, and whose acknowledgement was lost, is given again.
      heard = answer.kind === "reviewed" && chosen.wait.correction?.accepted === true;
      if (heard) return undefined;
      const kept = await keepAnswer({ owner, sessionId }, answer);
      return { ...kept, ...(await settledCorrection(sessionId, chosen.wait, kept)) };
    });
    if (told !== undefined) return told;
    if (heard) return (await reader.record({ owner, sessionId })).core;
    if (draining) throw engineStopping();
    throw planError("wait_not_open", `The wait of session ${sessionId} has just been answered.`);
  }

  /** What an answer makes of the correction that was meant for the same failure. */
  async function settledCorrection(
    sessionId: string,
    { correction: proposed }: OpenWait,
    answer: Completion,
  ): Promise<Pick<Completion, "correction">> {
    if (proposed === undefined) return {};
    const all = await readCorrections(deps.store, sessionId);
    const stands = all.find(({ correctionId }) => correctionId === proposed.correctionId);
    if (stands === undefined) return {};
    const reviewed = answer.kind === "reviewed" && answer.accepted ? "accepted" : "refused";
    const state = answer.kind === "reviewed" ? reviewed : "superseded";
    return { correction: { ...stands, state, settledAt: isoTime(deps.clock) } };
  }

  async function keepAnswer(session: SessionRef, answer: Completion): Promise<Completion> {
    if (answer.kind === "answered") return { ...answer, input: await keep(session, answer.input) };
    const output = answer.kind === "decided" && "output" in answer.decision ? answer.decision.output : undefined;
    if (answer.kind !== "decided" || output === undefined) return answer;
    return { ...answer, decision: { ...answer.decision, output: await keep(session, output) } as Decision };
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
      if (record.cursor === null) return cancelUnstarted(record);
      const run = await pool.take({ owner, sessionId }).catch((thrown: unknown) => {
        if (closing || (isErgonError(thrown) && thrown.code === "store_newer")) throw thrown;
        // What it needs to go on is lost; to end it, nothing is needed.
        deps.logger.warn(
          { sessionId, error: toErgonError(thrown, "session_broken").toJSON() },
          "A session that cannot be taken up is cancelled.",
        );
        return undefined;
      });
      if (run === undefined) return writeCancelled(record);
      if (await run.cancel()) return run.state.core;
      pool.release(run);
    }
    throw planError("session_busy", `Session ${sessionId} changes too fast to be cancelled; try again.`, {
      retryable: true,
    });
  }

  async function fork(request: ForkSession): Promise<SessionCore> {
    refuseWhenClosing();
    const source = await reader.record(request);
    const { newSessionId } = request;
    const taken = newSessionId !== undefined && (await deps.store.readSession(newSessionId)) !== undefined;
    if (taken) throw storeError("session_exists", `There is a session "${newSessionId}" already.`);
    refuseWhenFull();
    return await forkSession({ ...deps, pool }, source, request);
  }

  async function cancelUnstarted(record: SessionRecord): Promise<SessionCore> {
    const { sessionId, status } = record.core;
    if (status !== "paused")
      throw planError("session_ended", `Session ${sessionId} has ended already (${status}).`, { details: { status } });
    return writeCancelled(record);
  }

  async function writeCancelled(record: SessionRecord): Promise<SessionCore> {
    const { sessionId } = record.core;
    const at = isoTime(deps.clock);
    const core: SessionCore = { ...record.core, status: "cancelled", updatedAt: at, waiting: [] };
    await deps.store.commit({
      sessionId,
      owner: record.owner,
      session: { core, cursor: null },
      expectVersion: record.version,
      context: lastOfTrail(record),
      events: [{ type: "session-cancelled", at, data: { status: "cancelled" } }],
      durable: true,
    });
    await withdrawQuestions(deps, record.core);
    return core;
  }

  function refuseWhenFull(): void {
    if (pool.size() < MAX_ACTIVE_RUNS) return;
    const message = `${String(MAX_ACTIVE_RUNS)} runs are under way; try again later.`;
    throw planError("engine_busy", message, { retryable: true });
  }

  function refuseWhenClosing(): void {
    if (closing) throw engineStopping();
  }
}

/** A cursor that cannot be read leaves the trail without its end. */
function lastOfTrail(record: SessionRecord): readonly ContextWrite[] {
  try {
    const cursor = cursorOf(record);
    return cursor === null ? [] : [trailEnd(cursor)];
  } catch (thrown) {
    if (isErgonError(thrown) && thrown.code === "store_corrupt") return [];
    throw thrown;
  }
}

function busy(sessionId: string, status: string): Error {
  return planError("session_busy", `Session ${sessionId} has an unfinished plan (${status}).`, { details: { status } });
}

/** A session that has run nothing yet. */
export function newCore(
  sessionId: string,
  at: string,
  { mode, energyBudget }: Omit<CreateSession, "owner"> = {},
): SessionCore {
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
