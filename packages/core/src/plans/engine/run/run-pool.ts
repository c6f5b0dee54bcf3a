/*
 * The runs that are in memory: brought back when they are needed, unloaded when nothing of them is under way. A session
 * has at most one run here.
 * Covered by engine-contract.test.ts, races.test.ts, bounds.test.ts and the crash simulation.
 */
import { isErgonError } from "../../../errors/ergon-error.ts";
import { engineStopping, planError } from "../../../errors/plan.ts";
import { storeError } from "../../../errors/store.ts";
import type { SessionRef } from "../../../ports/engine.ts";
import type { SessionRecord } from "../../../ports/state-store.ts";
import type { AgenticPlan } from "../../../schema/plan.ts";
import type { SessionCore } from "../../../schema/session.ts";
import { isBlobRef } from "../../../schema/blob.ts";
import type { JsonObject } from "../../../schema/values/json.ts";
import type { CompiledPlan } from "../../compiled-plan.ts";
import { calledTool, singleCall } from "../../single-call.ts";
import type { BlobCache } from "../effects/blob-cache.ts";
import type { EngineDeps } from "../engine-deps.ts";
import { createCompiledPlans } from "./compiled-plans.ts";
import { openRunState } from "./open-run.ts";
import { recoverSessions } from "./recovery.ts";
import { createRun, type Run } from "./run.ts";
import type { RunState } from "./run-state.ts";
import { createSleepers } from "./sleepers.ts";
import type { Dues } from "../waits/waits.ts";

export type RunPool = {
  readonly size: () => number;
  readonly underWay: () => readonly CallUnderWay[];
  /** Keeps a session for one starter: false when it has a run, or somebody is starting one. */
  readonly reserve: (sessionId: string) => boolean;
  readonly unreserve: (sessionId: string) => void;
  /** A run for a state that the caller has made; one that is awaited goes on while the pool drains. */
  readonly adopt: (state: RunState, how?: { readonly isAwaited?: boolean | undefined }) => Run;
  /** The run of an unfinished session, from memory or brought back. */
  readonly take: (session: SessionRef) => Promise<Run>;
  /** Puts a run down if nothing of it is under way. */
  readonly release: (run: Run) => void;
  readonly drop: (run: Run) => void;
  readonly compiled: (hash: string, plan: AgenticPlan) => CompiledPlan;
  readonly recover: (which?: TakeUp) => Promise<{ readonly takenUp: number }>;
  /** Nothing goes on by itself from now on but what is awaited; what somebody takes is still brought back. */
  readonly drain: () => void;
  /** Resolves when the runs are at rest that have a call under way which may not be repeated. */
  readonly onceCallsDone: () => Promise<void>;
  readonly close: (graceMs: number) => Promise<void>;
};

/** `unasked`: nobody asked for this very session. */
type BringBack = { readonly look?: boolean; readonly unasked?: boolean };

/** Which unfinished sessions are taken up; all of them when nothing is said. */
export type TakeUp = {
  /** Sessions whose plans name a tool that is not known are left as they are. */
  readonly knows?: (toolId: string) => boolean;
};

export type CallUnderWay = { readonly sessionId: string; readonly toolId: string };

export type RunPoolParts = {
  readonly deps: EngineDeps & { readonly blobCache: BlobCache };
  readonly record: (session: SessionRef) => Promise<SessionRecord>;
  readonly onCommit: (core: SessionCore) => void;
};

export function createRunPool({ deps: given, record, onCommit }: RunPoolParts): RunPool {
  const stopping = new AbortController();
  const deps = { ...given, stopping: stopping.signal };
  const runs = new Map<string, Run>();
  const opening = new Map<string, Promise<Run>>();
  const starting = new Set<string>();
  const plans = createCompiledPlans();
  const sleepers = createSleepers(deps.clock, (session) => takeUp(session));
  const awaited = new WeakSet<Run>();
  let draining = false;
  let closing = false;
  let knows: TakeUp["knows"];

  return {
    size: () => runs.size,
    underWay: () =>
      [...runs.values()].flatMap(({ state: { sessionId, allowed } }) =>
        [...allowed.values()].map(({ toolId }) => ({ sessionId, toolId })),
      ),
    reserve,
    unreserve: (sessionId) => {
      starting.delete(sessionId);
    },
    adopt,
    take: (session) => take(session),
    release,
    drop,
    compiled: plans.compiled,
    recover,
    drain,
    onceCallsDone,
    close,
  };

  function reserve(sessionId: string): boolean {
    if (runs.has(sessionId) || starting.has(sessionId)) return false;
    starting.add(sessionId);
    return true;
  }

  function take({ owner, sessionId }: SessionRef, how: BringBack = {}): Promise<Run> {
    const active = runs.get(sessionId);
    if (active !== undefined) return Promise.resolve(active);
    let pending = opening.get(sessionId);
    if (pending === undefined) {
      pending = bringBack({ owner, sessionId }, how).finally(() => opening.delete(sessionId));
      opening.set(sessionId, pending);
    }
    return pending;
  }

  async function bringBack(session: SessionRef, { look, unasked }: BringBack): Promise<Run> {
    const sinceBeforeDrain = !draining;
    const found = await record(session);
    if (found.cursor === null) {
      throw planError("wait_not_open", `Session ${session.sessionId} waits for nothing (${found.core.status}).`);
    }
    const hash = found.planHash ?? "";
    const ready = (await callIn(hash, found)) ?? (await planIn(hash, session));
    const missing = unasked === true && knows !== undefined ? missingTool(ready, knows) : undefined;
    if (missing !== undefined) throw planError("tools_missing", `Its plan needs "${missing}", which is not here.`);
    const state = await openRunState(deps, found, ready);
    if (draining && sinceBeforeDrain) throw engineStopping();
    const dues = sleepers.take(session.sessionId);
    const run = adopt(state);
    run.recover(dues);
    if (look === true) run.look();
    return run;
  }

  async function planIn(hash: string, { sessionId }: SessionRef): Promise<CompiledPlan> {
    const plan = plans.get(hash)?.plan ?? (await deps.store.readPlan(hash));
    if (plan !== undefined) return plans.compiled(hash, plan);
    throw storeError("store_corrupt", `The plan of session ${sessionId} is not in the store.`);
  }

  async function callIn(hash: string, { owner, input = {} }: SessionRecord): Promise<CompiledPlan | undefined> {
    const toolId = calledTool(hash);
    if (toolId === undefined) return undefined;
    const args = isBlobRef(input) ? await deps.blobCache.load(owner, input) : input;
    return singleCall(toolId, args as JsonObject, input);
  }

  function adopt(state: RunState, { isAwaited = false }: { readonly isAwaited?: boolean | undefined } = {}): Run {
    if (closing) throw engineStopping();
    if (runs.has(state.sessionId)) throw new Error(`Session ${state.sessionId} has a run already.`);
    const run = createRun({ deps, state, onCommit, onIdle: putDown });
    runs.set(state.sessionId, run);
    if (isAwaited) awaited.add(run);
    return run;
  }

  function release(run: Run): void {
    if (run.idle()) putDown(run);
  }

  function putDown(run: Run): void {
    const dues = new Map(run.dues());
    drop(run);
    sleep(run.state, dues);
  }

  function drop(run: Run): void {
    if (runs.get(run.state.sessionId) === run) runs.delete(run.state.sessionId);
    run.abandon();
  }

  function sleep(session: SessionRef, dues: Dues): void {
    if (!draining && dues.size > 0) sleepers.put(session, dues);
  }

  function recover(which: TakeUp = {}): Promise<{ readonly takenUp: number }> {
    ({ knows } = which);
    return recoverSessions({
      deps,
      isActive: (sessionId) => runs.has(sessionId),
      isDraining: () => draining,
      takeUp: (session) => takeUp(session, { look: true }),
      sleep,
      failed: notTakenUp,
    });
  }

  /** Whoever takes a run for themselves begins no look: it might be put down again before they have it. */
  async function takeUp(session: SessionRef, { look = false } = {}): Promise<void> {
    try {
      const pending = look ? opening.get(session.sessionId) : undefined;
      const active = runs.get(session.sessionId) ?? (await pending);
      if (active === undefined || !runs.has(session.sessionId)) await take(session, { look, unasked: true });
      else if (look) active.look();
    } catch (thrown) {
      if (isErgonError(thrown) && (thrown.code === "wait_not_open" || thrown.code === "engine_stopping")) return;
      if (isErgonError(thrown) && thrown.code === "tools_missing") {
        const { sessionId } = session;
        return deps.logger.warn({ sessionId }, `Session ${sessionId} is left as it is. ${thrown.message}`);
      }
      notTakenUp(session.sessionId, thrown);
    }
  }

  function notTakenUp(sessionId: string, thrown: unknown): void {
    const error = isErgonError(thrown) ? thrown.toJSON() : { message: String(thrown) };
    deps.logger.error({ sessionId, error }, "A session could not be taken up.");
  }

  function drain(): void {
    draining = true;
    sleepers.clear();
    for (const run of runs.values()) if (!awaited.has(run)) run.drain();
  }

  async function onceCallsDone(): Promise<void> {
    const risky = [...runs.values()].filter(({ state: { allowed } }) =>
      [...allowed.values()].some(({ effects }) => effects === "once"),
    );
    await Promise.all(risky.map((run) => run.rested()));
  }

  async function close(graceMs: number): Promise<void> {
    drain();
    closing = true;
    await Promise.allSettled(opening.values());
    const open = [...runs.values()];
    for (const run of open) run.drain();
    const grace = new AbortController();
    const resting = Promise.all(open.map((run) => run.rested())).finally(() => grace.abort());
    await Promise.race([resting, deps.clock.sleep(graceMs, grace.signal)]);
    stopping.abort();
    for (const run of runs.values()) drop(run);
  }
}

function missingTool({ steps }: CompiledPlan, knows: (toolId: string) => boolean): string | undefined {
  for (const step of steps.values()) if (step.type === "tool_call" && !knows(step.toolId)) return step.toolId;
  return undefined;
}
