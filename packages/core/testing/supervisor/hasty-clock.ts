import { createSystemClock } from "../../src/memory/clock.ts";
import type { Clock } from "../../src/ports/clock.ts";

/** Timers that were to wait for up to this long fire at once: back-off without the wait. */
const SKIPPED_MS = 10_000;

/** Real time, in which short waits are over at once; time-outs stay what they are. */
export function createHastyClock(): Clock {
  const clock = createSystemClock();
  let aheadMs = 0;
  const now = (): number => clock.now() + aheadMs;
  return {
    ...clock,
    now,
    monotonic: () => clock.monotonic() + aheadMs,
    after: (ms, callback) => {
      if (ms > SKIPPED_MS) return clock.after(ms, callback);
      return clock.after(0, () => {
        aheadMs += ms;
        callback();
      });
    },
  };
}
