/*
 * The embedded engine: runs plans in this process, on this process's store.
 *
 * It keeps in memory only the runs that have something under way. A run that waits for a person or for time is put
 * down, and taken up again from its cursor when somebody answers or the time has come: nothing is replayed.
 *
 * Covered by engine-contract.test.ts and the crash simulation (simulation.test.ts).
 */
import { engineStopping, planError } from "../../errors/plan.ts";
import { storeError } from "../../errors/store.ts";
import { usageError } from "../../errors/usage.ts";
import { isoTime } from "../../ports/clock.ts";
import type { CreateSession, ExecutePlan, ForkSession } from "../../ports/engine.ts";
import type { RunClaim, SessionRecord } from "../../ports/state-store.ts";
import { isSettled, type SessionCore } from "../../schema/session.ts";
import { offload } from "../../tools/gate/offload.ts";
import { createCorrections } from "./corrections.ts";
import { createBlobCache } from "./effects/blob-cache.ts";
import type { EmbeddedEngine } from "./embedded-engine.ts";
import type { EngineDeps, PlanLookup, StartRun } from "./engine-deps.ts";
import { forkSession } from "./history/fork.ts";
import { createPlanCache } from "./plan-cache.ts";
import { createCallTool } from "./run/call-tool.ts";
import { createCancel } from "./run/cancel.ts";
import { createRunPool } from "./run/run-pool.ts";
import { createSettledWaiters } from "./run/settled-waiters.ts";
import { createNamedRuns } from "./run/named-runs.ts";
import { namedPlan, startPlan } from "./run/start-run.ts";
import { waiting } from "./run/waiting.ts";
import { createSessionReader } from "./session-reader.ts";
import { createSettleApproval } from "./waits/approval-answers.ts";
import { createResume } from "./waits/resume.ts";

/** Runs with something under way at once; a plan beyond that is refused, to be tried again. */
export const MAX_ACTIVE_RUNS = 10_000;

export type { EmbeddedEngine };

export function createEngine(given: EngineDeps & { readonly plans: PlanLookup }): EmbeddedEngine {
  const deps = { ...given, blobCache: createBlobCache(given), checkedPlans: createPlanCache(given) };
  const reader = createSessionReader(given);
  const settling = createSettledWaiters(given.clock);
  const pool = createRunPool({ deps, record: reader.record, onCommit: settling.tell });
  const coreOf = async (owner: string, sessionId: string) => (await reader.record({ owner, sessionId })).core;
  const namedRuns = createNamedRuns({ store: given.store, coreOf });
  let draining = false;
  let closing = false;
  const resume = createResume({ deps, pool, record: reader.record, isDraining: () => draining });
  const cancel = createCancel({ deps, pool, record: reader.record, isClosing: () => closing });

  return waiting({
    ...reader,
    createSession,
    startRun: (request) => {
      const inNew = { ...request, sessionId: deps.ids.next("ses"), create: true };
      return startNamed(inNew, request.id);
    },
    executePlan: (request) => startNamed(request, request.id, request.sessionId),
    callTool: createCallTool({
      deps: { ...deps, pool },
      reader,
      waiters: settling,
      admit: () => {
        refuseWhenClosing();
        refuseWhenFull();
      },
      isClosing: () => closing,
    }),
    resume: async (request) => {
      refuseWhenClosing();
      return await resume(request);
    },
    cancel: async (session) => {
      refuseWhenClosing();
      return await cancel(session);
    },
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
  });

  async function startNamed(request: StartRun, id: string | undefined, sessionId?: string): Promise<SessionCore> {
    refuseWhenClosing();
    if (id === undefined) return await start(request);
    const { owner, input } = request;
    const plan = typeof request.plan === "string" ? namedPlan(deps.plans, request.plan) : request.plan;
    return await namedRuns.once({ owner, id, plan, input, sessionId }, (claim) => start(request, claim));
  }

  async function start(request: StartRun, claim?: RunClaim): Promise<SessionCore> {
    refuseWhenClosing();
    const { sessionId } = request;
    if (!pool.reserve(sessionId)) throw busy(sessionId, (await reader.record(request)).core.status);
    try {
      const record = await sessionFor(request);
      if (record.cursor !== null) throw busy(sessionId, record.core.status);
      refuseWhenFull();
      return await startPlan({ ...deps, pool }, record, request, claim);
    } finally {
      pool.unreserve(sessionId);
    }
  }

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

  async function fork(request: ForkSession): Promise<SessionCore> {
    refuseWhenClosing();
    const source = await reader.record(request);
    const { newSessionId } = request;
    const taken = newSessionId !== undefined && (await deps.store.readSession(newSessionId)) !== undefined;
    if (taken) throw storeError("session_exists", `There is a session "${newSessionId}" already.`);
    refuseWhenFull();
    return await forkSession({ ...deps, pool }, source, request);
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
