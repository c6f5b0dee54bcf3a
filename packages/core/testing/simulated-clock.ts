import { sleepWith } from "../src/memory/clock.ts";
import type { Clock } from "../src/ports/clock.ts";

export type SimulatedClock = Clock & {
  /** Moves to the next timer and fires it; false when there is none. */
  readonly jump: () => boolean;
  /** Moves on up to that monotonic moment: fires the next timer that is due by then, or arrives there and gives false. */
  readonly advance: (toMs: number) => boolean;
  /** Sets the wall clock, as a person or a time server does: timers and the monotonic reading do not change. */
  readonly shift: (ms: number) => void;
  /** Drops every timer, as the death of a process does. */
  readonly forget: () => void;
};

/** Time that moves only when it is told to. */
export function createSimulatedClock(startMs = Date.UTC(2026, 0, 1)): SimulatedClock {
  let monotonicMs = startMs;
  let shiftedMs = 0;
  let made = 0;
  const timers = new Map<number, { readonly atMs: number; readonly fire: () => void }>();
  const after: Clock["after"] = (ms, callback) => {
    const id = made++;
    timers.set(id, { atMs: monotonicMs + Math.max(0, ms), fire: callback });
    return () => timers.delete(id);
  };
  const fireNext = (byMs: number): boolean => {
    let next: { readonly id: number; readonly atMs: number } | undefined;
    for (const [id, { atMs }] of timers) if (next === undefined || atMs < next.atMs) next = { id, atMs };
    if (next === undefined || next.atMs > byMs) return false;
    const timer = timers.get(next.id);
    timers.delete(next.id);
    monotonicMs = Math.max(monotonicMs, next.atMs);
    timer?.fire();
    return true;
  };
  return {
    now: () => monotonicMs + shiftedMs,
    monotonic: () => monotonicMs,
    after,
    sleep: (ms, signal) => sleepWith(after, ms, signal),
    jump: () => fireNext(Number.POSITIVE_INFINITY),
    advance: (toMs) => {
      if (fireNext(toMs)) return true;
      monotonicMs = Math.max(monotonicMs, toMs);
      return false;
    },
    shift: (ms) => {
      shiftedMs += ms;
    },
    forget: () => timers.clear(),
  };
}
