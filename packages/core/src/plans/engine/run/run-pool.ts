/*
 * The runs that are in memory: brought back when somebody needs them, put down when nothing of them is under way. A
 * session has at most one run here.
 */
import { isErgonError } from "../../../errors/ergon-error.ts";
import { engineStopping, planError } from "../../../errors/plan.ts";
import { storeError } from "../../../errors/store.ts";
import type { SessionRef } from "../../../ports/engine.ts";
import { MAX_PAGE_ROWS, type SessionRecord } from "../../../ports/state-store.ts";
import type { AgenticPlan } from "../../../schema/plan.ts";
import type { SessionCore } from "../../../schema/session.ts";
import { compilePlan, type CompiledPlan } from "../../compiled-plan.ts";
import { cursorOf } from "../../cursor.ts";
import type { BlobCache } from "../effects/blob-cache.ts";
import type { EngineDeps } from "../engine-deps.ts";
import { openRunState } from "./open-run.ts";
import { createRun, type Run } from "./run.ts";
import type { RunState } from "./run-state.ts";
import { type Dues, duesOf } from "../waits/waits.ts";

/** Runs that recovery brings back at once, oldest first. */
export const RECOVERY_PARALLEL = 128;
export const PLAN_CACHE_SIZE = 256;

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
  const wakes = new Map<string, { readonly dues: Dues; readonly stop: () => void }>();
  const starting = new Set<string>();
  const plans = new Map<string, CompiledPlan>();
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
    compiled,
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
    const plan = plans.get(hash)?.plan ?? (await deps.store.readPlan(hash));
    if (plan === undefined)
      throw storeError("store_corrupt", `The plan of session ${session.sessionId} is not in the store.`);
    const ready = compiled(hash, plan);
    const missing = unasked === true && knows !== undefined ? missingTool(ready, knows) : undefined;
    if (missing !== undefined) throw planError("tools_missing", `Its plan needs "${missing}", which is not here.`);
    const state = await openRunState(deps, found, ready);
    if (draining && sinceBeforeDrain) throw engineStopping();
    const asleep = wakes.get(session.sessionId);
    asleep?.stop();
    wakes.delete(session.sessionId);
    const run = adopt(state);
    run.recover(asleep?.dues);
    if (look === true) run.look();
    return run;
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
    wakeWhenDue(run.state, dues);
  }

  function drop(run: Run): void {
    if (runs.get(run.state.sessionId) === run) runs.delete(run.state.sessionId);
    run.abandon();
  }

  /** Sleepers hold a timer, not a run. */
  function wakeWhenDue({ owner, sessionId }: SessionRef, dues: Dues): void {
    if (draining || dues.size === 0) return;
    wakes.get(sessionId)?.stop();
    const firstMs = Math.min(...[...dues.values()].map(({ atMs }) => atMs));
    // Kept until the run is back: it must learn from here that the time is over.
    const stop = deps.clock.after(Math.max(0, firstMs - deps.clock.monotonic()), () => {
      void takeUp({ owner, sessionId }).finally(() => {
        if (wakes.get(sessionId) === asleep) wakes.delete(sessionId);
      });
    });
    const asleep = { dues, stop };
    wakes.set(sessionId, asleep);
  }

  async function recover(which: TakeUp = {}): Promise<{ readonly takenUp: number }> {
    ({ knows } = which);
    let takenUp = 0;
    const slots = new Set<Promise<void>>();
    for await (const record of unfinished()) {
      if (draining) break;
      const { core, owner } = record;
      const session = { owner, sessionId: core.sessionId };
      if (core.status !== "running") {
        wakeSleepers(record);
        if (!(await isAnswered(core))) continue;
      }
      takenUp++;
      const slot = takeUp(session, { look: true }).finally(() => slots.delete(slot));
      slots.add(slot);
      if (slots.size >= RECOVERY_PARALLEL) await Promise.race(slots);
      // A store may answer without ever letting go: requests, timers and the runs brought back so far get their turn.
      if (takenUp % RECOVERY_PARALLEL === 0) await deps.clock.sleep(0, deps.stopping);
    }
    await Promise.all(slots);
    return { takenUp };
  }

  /** A branch may sleep while its siblings wait for a person. */
  function wakeSleepers(record: SessionRecord): void {
    const {
      owner,
      core: { sessionId },
    } = record;
    try {
      const cursor = cursorOf(record);
      if (cursor !== null) wakeWhenDue({ owner, sessionId }, duesOf(cursor, deps.clock));
    } catch (thrown) {
      notTakenUp(sessionId, thrown);
    }
  }

  /** Whether a person has answered and the process ended before the session heard it. */
  async function isAnswered({ waiting }: SessionCore): Promise<boolean> {
    for (const { approvalId } of waiting) {
      if (approvalId === undefined) continue;
      if ((await deps.approvals?.read(approvalId))?.state !== "pending") return true;
    }
    return false;
  }

  /** Sessions that can go on by themselves, oldest first. */
  async function* unfinished(): AsyncGenerator<SessionRecord> {
    let cursor: string | undefined;
    do {
      const query = {
        status: ["running", "paused", "paused_on_human", "paused_on_error"],
        order: "oldest",
        limit: MAX_PAGE_ROWS,
      } as const;
      const page = await deps.store.listSessions(cursor === undefined ? query : { ...query, cursor });
      for (const found of page.items) if (found.cursor !== null && !runs.has(found.core.sessionId)) yield found;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
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

  function compiled(hash: string, plan: AgenticPlan): CompiledPlan {
    let found = plans.get(hash);
    if (found === undefined) {
      found = compilePlan(plan);
      plans.set(hash, found);
      for (const oldest of plans.keys()) {
        if (plans.size <= PLAN_CACHE_SIZE) break;
        plans.delete(oldest);
      }
    }
    return found;
  }

  function drain(): void {
    draining = true;
    for (const { stop } of wakes.values()) stop();
    wakes.clear();
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
