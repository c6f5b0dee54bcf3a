import type { Clock } from "../ports/clock.ts";

/** Runtimes keep a timer's delay in 31 bits and fire at once past it; longer waits are walked in parts. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** The machine's own time, with what every runtime has. */
export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep: (ms, signal) => sleepWith(after, ms, signal),
    after,
  };
}

/** `sleep` in terms of `after`; a clock that owns its timers needs to write only those. */
export function sleepWith(later: Clock["after"], ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = (): void => {
      stop();
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const stop = later(ms, wake);
    signal?.addEventListener("abort", wake, { once: true });
  });
}

function after(ms: number, callback: () => void): () => void {
  if (ms <= MAX_TIMER_MS) {
    const whole = setTimeout(callback, ms > 0 ? ms : 0);
    return () => clearTimeout(whole);
  }
  let left = ms;
  const next = (): ReturnType<typeof setTimeout> => {
    const part = Math.min(left, MAX_TIMER_MS);
    left -= part;
    return setTimeout(fire, part);
  };
  const fire = (): void => {
    if (left > 0) timer = next();
    else callback();
  };
  let timer = next();
  return () => clearTimeout(timer);
}
