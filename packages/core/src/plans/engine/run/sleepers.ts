import type { Clock } from "../../../ports/clock.ts";
import type { SessionRef } from "../../../ports/engine.ts";
import type { Dues } from "../waits/waits.ts";

/** Sessions that left memory and wait for time alone: each holds a timer, not a run. */
export type Sleepers = {
  readonly put: (session: SessionRef, dues: Dues) => void;
  /** The run is back: it learns from here which of its waits are over. */
  readonly take: (sessionId: string) => Dues | undefined;
  readonly clear: () => void;
};

export function createSleepers(clock: Clock, wake: (session: SessionRef) => Promise<void>): Sleepers {
  const asleep = new Map<string, { readonly dues: Dues; readonly stop: () => void }>();
  return {
    put: ({ owner, sessionId }, dues) => {
      asleep.get(sessionId)?.stop();
      const firstMs = Math.min(...[...dues.values()].map(({ atMs }) => atMs));
      // Kept until the run is back, which takes its dues from here.
      const stop = clock.after(Math.max(0, firstMs - clock.monotonic()), () => {
        void wake({ owner, sessionId }).finally(() => {
          if (asleep.get(sessionId) === sleeper) asleep.delete(sessionId);
        });
      });
      const sleeper = { dues, stop };
      asleep.set(sessionId, sleeper);
    },
    take: (sessionId) => {
      const found = asleep.get(sessionId);
      found?.stop();
      asleep.delete(sessionId);
      return found?.dues;
    },
    clear: () => {
      for (const { stop } of asleep.values()) stop();
      asleep.clear();
    },
  };
}
