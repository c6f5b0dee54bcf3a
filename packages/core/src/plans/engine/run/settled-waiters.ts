import type { Clock } from "../../../ports/clock.ts";
import type { SessionCore } from "../../../schema/session.ts";

export type SettledWaiters = {
  readonly tell: (core: SessionCore) => void;
  /** Resolves when the session may have stopped running, at the deadline (by the monotonic clock), or when the signal aborts. */
  readonly wait: (sessionId: string, until: { readonly deadlineMs?: number; readonly signal?: AbortSignal }) => Change;
  readonly wakeAll: () => void;
};

type Change = { readonly promise: Promise<void>; readonly stop: () => void };

/** Those who wait for sessions to settle. */
export function createSettledWaiters(clock: Clock): SettledWaiters {
  const waiters = new Map<string, Set<() => void>>();
  return {
    tell: (core) => {
      if (core.status !== "running") for (const wake of waiters.get(core.sessionId) ?? []) wake();
    },
    wakeAll: () => {
      for (const set of waiters.values()) for (const wake of set) wake();
    },
    wait: (sessionId, { deadlineMs, signal }) => {
      const set = waiters.get(sessionId) ?? new Set();
      waiters.set(sessionId, set);
      const { promise, resolve } = Promise.withResolvers<void>();
      const wake = (): void => {
        resolve();
      };
      set.add(wake);
      const stopTimer =
        deadlineMs === undefined ? undefined : clock.after(Math.max(0, deadlineMs - clock.monotonic()), wake);
      signal?.addEventListener("abort", wake, { once: true });
      const stop = (): void => {
        stopTimer?.();
        signal?.removeEventListener("abort", wake);
        set.delete(wake);
        if (set.size === 0 && waiters.get(sessionId) === set) waiters.delete(sessionId);
      };
      return { promise, stop };
    },
  };
}
