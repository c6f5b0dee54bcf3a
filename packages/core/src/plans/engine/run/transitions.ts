/*
 * Applies what has arrived to a run's state in memory, and collects in the builder what must be written and begun.
 * Covered by engine-contract.test.ts and simulation.test.ts.
 */
import type { Json } from "../../../schema/values/json.ts";
import { isoTime, type Clock } from "../../../ports/clock.ts";
import { advance, type Advance } from "../../interpreter.ts";
import type { Completion, Effect } from "../../transition.ts";
import type { Effects } from "../effects/effects.ts";
import { writeDownstream } from "../history/downstream.ts";
import { trailEnd, trailOf } from "../history/run-trail.ts";
import { recordArrival } from "./arrival-rows.ts";
import { isFull, isLarge, type CommitBuilder } from "./commit-builder.ts";
import { recordCall, recordCancel, recordIntent, recordRefused } from "./journal-rows.ts";
import type { Arrival, RunState } from "./run-state.ts";

export type QueueItem = Arrival | { readonly cancel: true; readonly taken: NonNullable<Arrival["taken"]> };

export type Transitions = {
  /** Applies one answer to an effect; false if the run has no use for it any more. */
  readonly arrived: (arrival: Arrival, builder: CommitBuilder) => boolean;
  /** Takes in what has arrived, and everything that follows from it without waiting. */
  readonly settle: (builder: CommitBuilder) => void;
  /** Applies an answer of the interpreter: memory now, the rest into the builder. */
  readonly take: (step: Advance, builder: CommitBuilder, outputAt?: OutputAt) => void;
};

export type TransitionParts = {
  readonly clock: Clock;
  readonly state: RunState;
  readonly queue: QueueItem[];
  readonly effects: Effects;
  readonly isDraining: () => boolean;
  readonly cancelled: () => void;
};

type OutputAt = (position: string) => Json | undefined;

export function createTransitions({
  clock,
  state,
  queue,
  effects,
  isDraining,
  cancelled,
}: TransitionParts): Transitions {
  return { arrived, settle, take };

  function settle(builder: CommitBuilder): void {
    builder.at = isoTime(clock);
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
    cancelled();
    state.calls.abort();
    return true;
  }

  function arrived(arrival: Arrival, builder: CommitBuilder): boolean {
    const { completion, call, joined } = arrival;
    // What would begin something new stays undone; the cursor owes it to the next start.
    if (isDraining() && completion.kind !== "called" && completion.kind !== "joined") return false;
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

  function take(step: Advance, builder: CommitBuilder, outputAt: OutputAt = () => undefined): void {
    state.cursor = step.cursor;
    builder.changed = true;
    state.data.write(step.writes, outputAt);
    builder.context.push(...step.writes);
    state.data.close(step.closed);
    builder.end = step.end;
    if (step.end === undefined && !isDraining()) for (const effect of step.effects) dispatch(effect, builder);
  }

  function dispatch(effect: Effect, builder: CommitBuilder): void {
    if (effects.now(effect)) return;
    if (effect.kind === "invoke") recordIntent(state, effect, builder);
    builder.launches.push(effect);
  }
}

function outputIn(completion: Completion, call: Arrival["call"]): Json | undefined {
  if (completion.kind === "decided" && completion.decision.action === "happened") return completion.decision.output;
  return call?.kind === "ok" ? call.output : undefined;
}
