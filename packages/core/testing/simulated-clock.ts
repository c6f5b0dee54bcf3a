import { sleepWith } from "../src/memory/clock.ts";
import type { Clock } from "../src/ports/clock.ts";

export type SimulatedClock = Clock & {
  /** Moves to the next timer and fires it; false when there is none. */
  readonly jump: () => boolean;
  /** Drops every timer, as the death of a process does. */
  readonly forget: () => void;
};

/** Time that moves only when it is told to. */
export function createSimulatedClock(startMs = Date.UTC(2026, 0, 1)): SimulatedClock {
  let nowMs = startMs;
  let made = 0;
  const timers = new Map<number, { readonly atMs: number; readonly fire: () => void }>();
  const after: Clock["after"] = (ms, callback) => {
    const id = made++;
    timers.set(id, { atMs: nowMs + Math.max(0, ms), fire: callback });
    return () => timers.delete(id);
  };
  return {
    now: () => nowMs,
    monotonic: () => nowMs,
    after,
    sleep: (ms, signal) => sleepWith(after, ms, signal),
    jump: () => {
      let next: { readonly id: number; readonly atMs: number } | undefined;
      for (const [id, { atMs }] of timers) if (next === undefined || atMs < next.atMs) next = { id, atMs };
      if (next === undefined) return false;
      const timer = timers.get(next.id);
      timers.delete(next.id);
      nowMs = Math.max(nowMs, next.atMs);
      timer?.fire();
      return true;
    },
    forget: () => timers.clear(),
  };
}
