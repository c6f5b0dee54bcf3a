/*
 * One run under way: takes completions in, commits what they changed, then begins what follows.
 *
 * The interpreter decides, `effects` carries out, `book` writes the rows, RunData answers pointers; this file only
 * orders them.
 *
 * E1  What a completion changes is committed before any effect that follows from it begins, unless nothing in the world
 *     could tell: calls that change nothing begin while the commit is on its way, also while it is the run's first, and
 *     what comes of them before the store takes it is part of it.
 * E2  The end of one step and the start of the next are one commit, unless something had to be loaded in between.
 * E3  A call's intent is in the journal before the tool is called; on the disk when its effects are `once`.
 * E4  Commits of a run reach the store in order; the version fence makes a second driver of the session fail, not win.
 * E5  When nothing is under way, nothing of the run needs to stay in memory.
 * E6  Whoever waits is answered when the store has what the answer tells; with `ERGON_FSYNC=always`, when the disk has it.
 *     Who tells it outside of this process has the disk take it first (`acknowledging.ts`). The run itself goes on
 *     meanwhile: what the loss of power would make it forget may be repeated, by the effects of its tools.
 */
import { toErgonError } from "../../../errors/ergon-error.ts";
import { isoTime } from "../../../ports/clock.ts";
import type { Commit, ContextWrite, SessionWrite } from "../../../ports/state-store.ts";
import type { Json } from "../../../schema/values/json.ts";
import type { SessionCore } from "../../../schema/session.ts";
import { storedCursor } from "../../cursor.ts";
import { advance, begin, owed, type Advance } from "../../interpreter.ts";
import type { Completion, Effect } from "../../transition.ts";
import { recordArrival, recordCall, recordCancel, recordIntent, recordRefused, recordSession } from "./journal-rows.ts";
import { writeDownstream } from "../history/downstream.ts";
import { newCommitBuilder, note, type CommitBuilder } from "./commit-builder.ts";
import { createEffects, type EffectsParts } from "../effects/effects.ts";
import type { Arrival, RunState } from "./run-state.ts";
import { trailEnd, trailOf } from "../history/run-trail.ts";
import { dueAt, type Dues } from "../waits/waits.ts";
import { withdrawQuestions } from "../waits/withdraw.ts";
import { createOrderedCommits } from "./ordered-commits.ts";

/** After so many transitions without a call, what has happened is committed and others get their turn. */
export const MAX_TRANSITIONS_PER_COMMIT = 1_000;

/** So many requests and results in the journal end a commit: together they are far below what one may hold. */
export const MAX_JOURNAL_VALUES_PER_COMMIT = 128;

/** A run may be this many steps ahead of the store. */
export const MAX_STEPS_UNWRITTEN = 32;

/** And with `ERGON_FSYNC=always` this many ahead of the disk. */
export const MAX_STEPS_AHEAD = 32;

/** A first commit that brings more than this is written alone: with what the first steps add it might be too large. */
export const MAX_OPENING_ROWS = 32;
export const MAX_OPENING_PLAN_CHARS = 1024 * 1024;

export type Run = {
  readonly state: RunState;
  /** Writes the first commit of a new run, together with `opening`. Rejects, and changes nothing, when it cannot. */
  readonly start: (opening: Opening) => Promise<void>;
  /** Takes up what the cursor owes; sleepers that this process has known before wake when they were to. */
  readonly recover: (known?: Dues) => void;
  /** Its sleepers; none of a run that goes on no more. */
  readonly dues: () => Dues;
  /** Looks whether people have answered what it asked; when there is nothing else to do, it is put down after that. */
  readonly look: () => void;
  /** Resolves once what the completion changed is safe; false when nobody waited for it. */
  readonly deliver: (completion: Completion) => Promise<boolean>;
  readonly cancel: () => Promise<boolean>;
  /** From now on calls under way may end, and nothing new begins. */
  readonly drain: () => void;
  /** Ends what is under way without recording it; the next start takes it up. */
  readonly abandon: () => void;
  readonly idle: () => boolean;
  /** Resolves when nothing is under way any more. */
  readonly rested: () => Promise<void>;
};

/** What the first commit of a run carries besides its first steps. */
export type Opening = Pick<Commit, "plan" | "blobs" | "context" | "journal"> & {
  readonly planHash: string;
  readonly planChars: number;
  readonly input: Json;
};

export type RunParts = {
  readonly deps: EffectsParts["deps"];
  readonly state: RunState;
  readonly onCommit: (core: SessionCore) => void;
  /** Nothing is under way until the first of its sleepers wakes. */
  readonly onIdle: (run: Run) => void;
};

export function createRun({ deps, state, onCommit, onIdle }: RunParts): Run {
  const queue: (Arrival | { readonly cancel: true; readonly taken: NonNullable<Arrival["taken"]> })[] = [];
  const timers = new Map<string, () => void>();
  const dues = new Map<string, { readonly untilMs: number; readonly atMs: number }>();
  const resting: (() => void)[] = [];
  const commitInOrder = createOrderedCommits(deps);
  const effects = createEffects({ deps, state, arrive: (arrival) => void queue.push(arrival), begun });
  let pumping = false;
  let underWay = 0;
  /** What the store was given and has not taken yet. */
  let open: { readonly builder: CommitBuilder; readonly written: Promise<Written> } | undefined;
  /** Steps of which the store, and the disk, have not said that they have them. */
  let unwritten = 0;
  let ahead = 0;
  let draining = false;
  let over = false;

  const run: Run = {
    state,
    start: async (first) => {
      pumping = true;
      const builder = newCommitBuilder();
      builder.at = isoTime(deps.clock);
      let runsAhead = false;
      let onDisk: Promise<void> | undefined;
      try {
        const { forkedFrom } = state.core;
        const origin = forkedFrom === undefined || state.version > 0 ? {} : { forkedFrom };
        if (state.version === 0) note(builder, "session-created", { sessionId: state.sessionId, ...origin });
        note(builder, "session-started", { planId: state.plan.plan.planId, run: state.cursor.run });
        builder.context.push(...(first.context ?? []));
        builder.journal.push(...(first.journal ?? []));
        builder.blobs.push(...(first.blobs ?? []));
        take(begin(state.plan, state.cursor, deps.clock.now()), builder, () => undefined);
        settle(builder);
        runsAhead = isSmall(first) && mayRunAhead(builder);
        const written = write(count(builder), { ...first, isAlone: !runsAhead });
        if (runsAhead) {
          if (!builder.taken) open = { builder, written };
          pumping = false;
          launch(builder);
        }
        ({ onDisk } = await written);
        launch(builder);
      } finally {
        if (!runsAhead) pumping = false;
        void pump();
      }
      await onDisk;
    },
    dues: () => (draining || over ? NONE_DUE : dues),
    recover: (known) => {
      for (const effect of owed(state.plan, state.cursor)) {
        if (effect.kind === "invoke") begun(() => effects.recover(effect));
        else if (effect.kind === "sleep") sleep(effect, known);
        else if (effect.kind !== "look") beginEffect(effect);
      }
    },
    look: () => {
      for (const effect of owed(state.plan, state.cursor)) if (effect.kind === "look") beginEffect(effect);
    },
    deliver: (completion) =>
      new Promise((taken) => {
        push({ completion, taken });
      }),
    cancel: () =>
      new Promise((taken) => {
        push({ cancel: true, taken });
      }),
    drain: () => {
      draining = true;
      stopTimers();
      // One that only slept has nothing under way any more.
      void pump();
    },
    abandon: () => {
      over = true;
      stopTimers();
      if (underWay > 0) state.calls.abort();
    },
    idle: () => !pumping && underWay === 0 && unwritten === 0 && queue.length === 0,
    rested: () =>
      new Promise((resolve) => {
        if (run.idle()) resolve();
        else resting.push(resolve);
      }),
  };
  return run;

  function push(item: (typeof queue)[number]): void {
    queue.push(item);
    void pump();
  }

  /** Turns what has arrived into commits, one at a time (E4). */
  async function pump(): Promise<void> {
    if (pumping) return;
    pumping = true;
    try {
      while (queue.length > 0 && !over) {
        const builder = open?.builder ?? newCommitBuilder();
        settle(builder);
        const runsAhead = mayRunAhead(builder);
        const written = open?.written ?? give(builder);
        if (builder.changed) count(builder);
        if (runsAhead) {
          launch(builder);
          if (unwritten < MAX_STEPS_UNWRITTEN && unwritten + ahead < MAX_STEPS_AHEAD) continue;
        }
        const { onDisk } = await written;
        if (!runsAhead) launch(builder);
        if (ahead >= MAX_STEPS_AHEAD) await onDisk;
        // A run that only thinks must let timers and sockets have their turn.
        if (isFull(builder)) await deps.clock.sleep(0, deps.stopping);
      }
    } catch (thrown) {
      putDown(thrown);
    } finally {
      pumping = false;
    }
    if (over) for (const item of queue.splice(0)) item.taken?.(false);
    if (!run.idle()) return;
    onIdle(run);
    for (const tell of resting.splice(0)) tell();
  }

  /** Takes in what has arrived, and everything that follows from it without waiting. */
  function settle(builder: CommitBuilder): void {
    builder.at = isoTime(deps.clock);
    for (; builder.end === undefined && !isFull(builder) && !isLarge(builder); builder.transitions++) {
      const item = queue.shift();
      if (item === undefined) return;
      const applied = "cancel" in item ? cancelNow(builder) : arrived(item, builder);
      const { taken } = item;
      if (taken === undefined) continue;
      builder.acknowledge.push((onDisk) => taken(onDisk === undefined ? applied : onDisk.then(() => applied)));
    }
  }

  function cancelNow(builder: CommitBuilder): boolean {
    recordCancel(state, builder);
    builder.context.push(trailEnd(state.cursor));
    stopTimers();
    state.calls.abort();
    return true;
  }

  function arrived(arrival: Arrival, builder: CommitBuilder): boolean {
    const { completion, call, joined } = arrival;
    // What would begin something new stays undone; the cursor owes it to the next start.
    if (draining && completion.kind !== "called" && completion.kind !== "joined") return false;
    const before = state.cursor;
    const step = advance(state.plan, before, completion);
    if (step.ignored === true) return false;
    state.cursor = step.cursor;
    recordArrival(before, arrival, builder);
    recordCall(state, before, arrival, builder);
    recordRefused(state, before, completion, builder);
    if (arrival.downstream !== undefined) writeDownstream(state, before, arrival, builder);
    if (joined !== undefined) {
      state.data.write(joined.writes, (position) => joined.outputs.get(position));
      state.data.unbindLoop(completion.position);
      builder.context.push(...joined.writes);
      builder.dropScopes.push(completion.position);
      for (const blob of joined.blobs) builder.blobs.push({ ref: blob.ref, at: builder.at });
    }
    take(step, builder, (position) => (position === completion.position ? outputIn(completion, call) : undefined));
    builder.context.push(...trailOf(before, step, completion, joined?.writes));
    return true;
  }

  /** Applies an answer of the interpreter: memory now, the rest into the builder. */
  function take(step: Advance, builder: CommitBuilder, outputAt: (position: string) => Json | undefined): void {
    state.cursor = step.cursor;
    builder.changed = true;
    state.data.write(step.writes, outputAt);
    builder.context.push(...step.writes);
    state.data.close(step.closed);
    builder.end = step.end;
    if (step.end === undefined && !draining) for (const effect of step.effects) dispatch(effect, builder);
  }

  function dispatch(effect: Effect, builder: CommitBuilder): void {
    if (effects.now(effect)) return;
    if (effect.kind === "invoke") recordIntent(state, effect, builder);
    builder.launches.push(effect);
  }

  /** All that follows is calls that change nothing. */
  function mayRunAhead(builder: CommitBuilder): boolean {
    const { changed, durable, end, launches } = builder;
    if (!changed || durable || end !== undefined || launches.length === 0) return false;
    if (isFull(builder) || isLarge(builder)) return false;
    return launches.every((effect) => effect.kind === "invoke" && effects.isRepeatable(effect));
  }

  /** What arrives until the store takes it becomes part of it. */
  function give(builder: CommitBuilder): Promise<Written> {
    if (!builder.changed) return Promise.resolve(sync(builder));
    const written = write(builder);
    written.catch(putDown).finally(() => void pump());
    if (!builder.taken) open = { builder, written };
    return written;
  }

  function count(builder: CommitBuilder): CommitBuilder {
    builder.steps++;
    unwritten++;
    return builder;
  }

  /** The first commit is somebody's request: it is refused when it cannot be written. Later ones hold results. */
  async function write(builder: CommitBuilder, first?: FirstCommit): Promise<Written> {
    const before = state.core;
    let made: ReturnType<typeof commitOf> | undefined;
    const make = (): Commit => {
      if (made === undefined) {
        builder.taken = true;
        open = undefined;
        made = commitOf(builder, first);
        hold(made.session.core);
      }
      return made;
    };
    try {
      if (first === undefined) await commitInOrder(make);
      else await deps.store.commit(first.isAlone ? make() : make);
    } catch (thrown) {
      if (first !== undefined) over = true;
      // Whoever waits for an answer gets this one.
      for (const acknowledge of builder.acknowledge) acknowledge(Promise.reject(toErgonError(thrown, "engine_failed")));
      throw thrown;
    } finally {
      unwritten -= builder.steps;
    }
    if (builder.end !== undefined) await withdrawQuestions(deps, before);
    if (builder.end !== undefined) over = true;
    onCommit(made?.session.core ?? state.core);
    return sync(builder);
  }

  function commitOf(builder: CommitBuilder, first: Opening | undefined): Commit & { readonly session: SessionWrite } {
    const core = recordSession(state, builder, deps.supervised === true);
    const { context, dropScopes, journal, energy, blobs, events } = builder;
    const cursor = builder.end === undefined ? storedCursor(state.cursor) : null;
    return {
      sessionId: state.sessionId,
      owner: state.owner,
      expectVersion: state.version,
      session: first === undefined ? { core, cursor } : { core, cursor, planHash: first.planHash, input: first.input },
      ...(first?.plan === undefined ? {} : { plan: first.plan }),
      context: newestOf(context),
      dropScopes,
      journal,
      energy,
      blobs,
      events,
      durable: builder.durable,
    };
  }

  /** A commit raises the session's version by one (S3). */
  function hold(core: SessionCore): void {
    state.core = core;
    state.version++;
  }

  /** With `ERGON_FSYNC=always` the disk takes everything at once, and answers wait for it (E6). */
  function sync(builder: CommitBuilder): Written {
    if (deps.fsyncEveryStep !== true) {
      for (const acknowledge of builder.acknowledge) acknowledge(undefined);
      return {};
    }
    ahead += builder.steps;
    const onDisk = deps.store.sync().finally(() => {
      ahead -= builder.steps;
    });
    for (const acknowledge of builder.acknowledge) acknowledge(onDisk);
    onDisk.catch((thrown: unknown) => {
      const error = toErgonError(thrown, "store_unavailable").toJSON();
      deps.logger.error({ sessionId: state.sessionId, error }, "What was written might not survive a loss of power.");
    });
    return { onDisk };
  }

  function launch(builder: CommitBuilder): void {
    if (!over) for (const effect of builder.launches) beginEffect(effect);
    builder.launches = [];
  }

  function beginEffect(effect: Effect): void {
    if (effect.kind === "sleep") sleep(effect);
    else begun(() => effects.later(effect));
  }

  /** A wait that this process has begun before goes on where it was: setting the clock neither shortens nor lengthens it. */
  function sleep(effect: Extract<Effect, { kind: "sleep" }>, known?: Dues): void {
    const { position, untilMs } = effect;
    const before = known?.get(position);
    const atMs = before?.untilMs === untilMs ? before.atMs : dueAt(effect, deps.clock);
    const wake = (): void => {
      timers.delete(position);
      dues.delete(position);
      push({ completion: { kind: "woke", position, atMs: deps.clock.now() } });
    };
    dues.set(position, { untilMs, atMs });
    timers.set(position, deps.clock.after(Math.max(0, atMs - deps.clock.monotonic()), wake));
  }

  function stopTimers(): void {
    for (const stop of timers.values()) stop();
    timers.clear();
    dues.clear();
  }

  /** Counts what is under way, so that a run with nothing under way can leave memory (E5). */
  function begun(work: () => Promise<void>): void {
    underWay++;
    work().then(ended, (thrown: unknown) => {
      putDown(thrown);
      ended();
    });
  }

  function ended(): void {
    underWay--;
    void pump();
  }

  function putDown(thrown: unknown): void {
    if (over) return;
    over = true;
    stopTimers();
    if (deps.stopping.aborted) return;
    const error = toErgonError(thrown, "engine_failed").toJSON();
    deps.logger.error({ sessionId: state.sessionId, error }, "A run was put down; the next start takes it up.");
  }
}

const NONE_DUE: Dues = new Map();

/** Of what one commit writes under the same name only the last would stay. */
function newestOf(writes: readonly ContextWrite[]): readonly ContextWrite[] {
  if (writes.length < 2) return writes;
  const scopes = new Map<string, Map<string, ContextWrite>>();
  for (const write of writes) {
    const scope = scopes.get(write.scope);
    if (scope === undefined) scopes.set(write.scope, new Map([[write.key, write]]));
    else scope.set(write.key, write);
  }
  return [...scopes.values()].flatMap((scope) => [...scope.values()]);
}

function isFull({ transitions }: CommitBuilder): boolean {
  return transitions >= MAX_TRANSITIONS_PER_COMMIT;
}

function isSmall({ context = [], journal = [], planChars }: Opening): boolean {
  return context.length + journal.length <= MAX_OPENING_ROWS && planChars <= MAX_OPENING_PLAN_CHARS;
}

function isLarge({ journalValues }: CommitBuilder): boolean {
  return journalValues >= MAX_JOURNAL_VALUES_PER_COMMIT;
}

/** Alone: made at once, and nothing that comes meanwhile becomes part of it. */
type FirstCommit = Opening & { readonly isAlone: boolean };

/** In the store; `onDisk` when the disk takes it as well. */
type Written = { readonly onDisk?: Promise<void> };

function outputIn(completion: Completion, call: Arrival["call"]): Json | undefined {
  if (completion.kind === "decided" && completion.decision.action === "happened") return completion.decision.output;
  return call?.kind === "ok" ? call.output : undefined;
}
