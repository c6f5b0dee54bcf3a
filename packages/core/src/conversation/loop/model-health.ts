import type { ErgonError } from "../../errors/ergon-error.ts";
import { isoTime, type Clock } from "../../ports/clock.ts";
import { backoffMs } from "../../hub/backoff.ts";

/** A model that is down is asked again after at most this long: people wait for it. */
const MAX_PAUSE_MS = 60_000;

type Down = {
  readonly since: string;
  readonly failures: number;
  readonly retryAtMs: number;
  readonly error: ErgonError;
};

/** Which models cannot be asked at the moment, and until when they are left alone. */
export type ModelHealth = {
  readonly isAvailable: (id: string) => boolean;
  readonly failed: (id: string, error: ErgonError) => void;
  readonly worked: (id: string) => void;
  /** When the next one may be tried again; undefined when none is down. */
  readonly nextTryMs: () => number | undefined;
  readonly sentences: () => readonly string[];
};

export function createModelHealth(clock: Clock): ModelHealth {
  const down = new Map<string, Down>();
  return {
    isAvailable: (id) => (down.get(id)?.retryAtMs ?? 0) <= clock.monotonic(),
    failed: (id, error) => {
      const before = down.get(id);
      const failures = (before?.failures ?? 0) + 1;
      const pause = Math.min(MAX_PAUSE_MS, backoffMs(failures, 0));
      const since = before?.since ?? isoTime(clock);
      down.set(id, { since, failures, error, retryAtMs: clock.monotonic() + pause });
    },
    worked: (id) => void down.delete(id),
    nextTryMs: () => {
      const tries = [...down.values()].map(({ retryAtMs }) => retryAtMs);
      return tries.length === 0 ? undefined : Math.min(...tries);
    },
    sentences: () =>
      [...down].map(([id, { since, error }]) => `The model ${id} cannot be asked since ${since}: ${error.message}`),
  };
}
