import type { Clock } from "../../../ports/clock.ts";
import type { Effect } from "../../transition.ts";
import { dueAt, type Dues } from "../waits/waits.ts";

/** The timers of a run's sleeping steps. */
export type RunTimers = {
  /** A wait that this process has begun before goes on where it was: setting the clock neither shortens nor lengthens it. */
  readonly sleep: (effect: Extract<Effect, { kind: "sleep" }>, known?: Dues) => void;
  readonly dues: () => Dues;
  readonly stop: () => void;
};

export function createRunTimers(clock: Clock, woke: (position: string) => void): RunTimers {
  const timers = new Map<string, () => void>();
  const dues = new Map<string, { readonly untilMs: number; readonly atMs: number }>();
  return {
    sleep: (effect, known) => {
      const { position, untilMs } = effect;
      const before = known?.get(position);
      const atMs = before?.untilMs === untilMs ? before.atMs : dueAt(effect, clock);
      const wake = (): void => {
        timers.delete(position);
        dues.delete(position);
        woke(position);
      };
      dues.set(position, { untilMs, atMs });
      timers.set(position, clock.after(Math.max(0, atMs - clock.monotonic()), wake));
    },
    dues: () => dues,
    stop: () => {
      for (const stop of timers.values()) stop();
      timers.clear();
      dues.clear();
    },
  };
}
