/*
 * One run under way: takes completions in, commits what they changed, then begins what follows.
 *
 * The interpreter decides, `effects` carries out, `transitions` applies what arrived, `commit-writer` writes it; this file
 * only orders them.
 *
 * E1  What a completion changes is committed before any effect that follows from it begins, unless nothing in the world
 *     could tell: calls that change nothing begin while the commit is on its way, also while it is the run's first, and
 *     what comes of them before the store takes it is part of it.
 * E2  The end of one step and the start of the next are one commit, unless something had to be loaded in between.
 * E3  A call's intent is in the journal before the tool is called; on the disk when its effects are `once`.
 * E4  Commits of a run reach the store in order; the version fence makes a second driver of the session fail, not win.
 * E5  When nothing is under way, nothing of the run needs to stay in memory.
 * E6  A caller is answered when the store has what the answer says; with `ERGON_FSYNC=always`, when the disk has it.
 *     Who tells it outside of this process has the disk take it first (`acknowledging.ts`). The run itself goes on
 *     meanwhile: what the loss of power would make it forget may be repeated, by the effects of its tools.
 *
 * Covered by engine-contract.test.ts, races.test.ts and the crash simulation (simulation.test.ts).
 */
import { toErgonError } from "../../../errors/ergon-error.ts";
import { engineStopping } from "../../../errors/plan.ts";
import { isoTime } from "../../../ports/clock.ts";
import type { SessionCore } from "../../../schema/session.ts";
import { begin, owed } from "../../interpreter.ts";
import { calledTool } from "../../single-call.ts";
import type { Completion, Effect } from "../../transition.ts";
import type { EffectsParts } from "../effects/effect-parts.ts";
import { createEffects } from "../effects/effects.ts";
import type { Dues } from "../waits/waits.ts";
import { isFull, isLarge, newCommitBuilder, note, type CommitBuilder } from "./commit-builder.ts";
import { createCommitWriter, type Opening } from "./commit-writer.ts";
import type { RunState } from "./run-state.ts";
import { createRunTimers } from "./run-timers.ts";
import { createTransitions, type QueueItem } from "./transitions.ts";

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

export type RunParts = {
  readonly deps: EffectsParts["deps"];
  readonly state: RunState;
  readonly onCommit: (core: SessionCore) => void;
  /** Nothing is under way until the first of its sleepers wakes. */
  readonly onIdle: (run: Run) => void;
};

export function createRun({ deps, state, onCommit, onIdle }: RunParts): Run {
  const queue: QueueItem[] = [];
  const resting: (() => void)[] = [];
  let pumping = false;
  let underWay = 0;
  let draining = false;
  let over = false;
  const timers = createRunTimers(deps.clock, (position) => {
    push({ completion: { kind: "woke", position, atMs: deps.clock.now() } });
  });
  const effects = createEffects({ deps, state, arrive: (arrival) => void queue.push(arrival), begun });
  const transitions = createTransitions({
    clock: deps.clock,
    state,
    queue,
    effects,
    isDraining: () => draining,
    cancelled: timers.stop,
  });
  const writer = createCommitWriter({
    deps,
    state,
    onCommit,
    over: () => {
      over = true;
    },
    failed: putDown,
    after: () => void pump(),
  });

  const run: Run = {
    state,
    start: async (first) => {
      pumping = true;
      const builder = newCommitBuilder();
      let runsAhead = false;
      let onDisk: Promise<void> | undefined;
      try {
        fillFirst(builder, first);
        if (first.checked !== undefined) transitions.arrived(first.checked, builder);
        else transitions.take(begin(state.plan, state.cursor, deps.clock.now()), builder);
        transitions.settle(builder);
        if (first.isHeld === true && !builder.durable) await callFirst(builder);
        runsAhead = isSmall(first) && mayRunAhead(builder);
        writer.count(builder);
        const written = writer.first(builder, { ...first, isAlone: !runsAhead });
        if (runsAhead) {
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
    dues: () => (draining || over ? NONE_DUE : timers.dues()),
    recover: (known) => {
      for (const effect of owed(state.plan, state.cursor)) {
        if (effect.kind === "invoke") begun(() => effects.recover(effect));
        else if (effect.kind === "sleep") timers.sleep(effect, known);
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
      timers.stop();
      // One that only slept has nothing under way any more.
      void pump();
    },
    abandon: () => {
      over = true;
      timers.stop();
      if (underWay > 0) state.calls.abort();
    },
    idle: () => !pumping && underWay === 0 && writer.isIdle() && queue.length === 0,
    rested: () =>
      new Promise((resolve) => {
        if (run.idle()) resolve();
        else resting.push(resolve);
      }),
  };
  return run;

  function push(item: QueueItem): void {
    queue.push(item);
    void pump();
  }

  /** Turns what has arrived into commits, one at a time (E4). */
  async function pump(): Promise<void> {
    if (pumping) return;
    pumping = true;
    try {
      while (queue.length > 0 && !over) {
        const open = writer.open();
        const builder = open?.builder ?? newCommitBuilder();
        transitions.settle(builder);
        const runsAhead = mayRunAhead(builder);
        const written = open?.written ?? writer.give(builder);
        if (builder.changed) writer.count(builder);
        if (runsAhead) {
          launch(builder);
          if (!writer.isBehind()) continue;
        }
        const { onDisk } = await written;
        if (!runsAhead) launch(builder);
        if (writer.isAheadOfDisk()) await onDisk;
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

  /** Makes the calls that this commit begins before it is written, and takes in what comes of them. */
  async function callFirst(builder: CommitBuilder): Promise<void> {
    underWay++;
    try {
      for (const effect of builder.launches.splice(0)) if (effect.kind === "invoke") await effects.later(effect);
    } finally {
      underWay--;
    }
    if (over) throw engineStopping();
    transitions.settle(builder);
  }

  /** What the first commit writes besides its first steps. */
  function fillFirst(builder: CommitBuilder, { planHash, context = [], journal = [], blobs = [] }: Opening): void {
    builder.at = isoTime(deps.clock);
    const { forkedFrom } = state.core;
    const origin = forkedFrom === undefined ? {} : { forkedFrom };
    const toolId = calledTool(planHash);
    const called = toolId === undefined ? {} : { toolId };
    if (state.version === 0) note(builder, "session-created", { sessionId: state.sessionId, ...origin, ...called });
    note(builder, "session-started", { planId: state.plan.plan.planId, run: state.cursor.run });
    builder.context.push(...context);
    builder.journal.push(...journal);
    builder.blobs.push(...blobs);
  }

  /** All that follows is calls that change nothing. */
  function mayRunAhead(builder: CommitBuilder): boolean {
    const { changed, durable, end, launches } = builder;
    if (!changed || durable || end !== undefined || launches.length === 0) return false;
    if (isFull(builder) || isLarge(builder)) return false;
    return launches.every((effect) => effect.kind === "invoke" && effects.isRepeatable(effect));
  }

  function launch(builder: CommitBuilder): void {
    if (!over) for (const effect of builder.launches) beginEffect(effect);
    builder.launches = [];
  }

  function beginEffect(effect: Effect): void {
    if (effect.kind === "sleep") timers.sleep(effect);
    else begun(() => effects.later(effect));
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
    timers.stop();
    if (deps.stopping.aborted) return;
    const error = toErgonError(thrown, "engine_failed").toJSON();
    deps.logger.error({ sessionId: state.sessionId, error }, "A run was put down; the next start takes it up.");
  }
}

const NONE_DUE: Dues = new Map();

function isSmall({ context = [], journal = [], planChars }: Opening): boolean {
  return context.length + journal.length <= MAX_OPENING_ROWS && planChars <= MAX_OPENING_PLAN_CHARS;
}
