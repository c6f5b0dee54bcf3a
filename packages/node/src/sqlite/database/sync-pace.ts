/**
 * A quick disk takes a sync in less time than a hop to another thread and back: then this thread does it. After a slow one,
 * another thread does the next ones for a while, and for twice as long if the first one after that is slow again. So slow
 * syncs block the process for a small part of the time only, and on a disk that is always slow hardly ever.
 */
export type SyncPace = {
  readonly isQuick: () => boolean;
  readonly took: (ms: number) => void;
};

export const QUICK_SYNC_MS = 0.3;
/** Syncs are left to another thread for so many times as long as the slow one took. */
export const FIRST_REST = 20;
export const LONGEST_REST = 1_280;

export function createSyncPace(now: () => number): SyncPace {
  let restUntil = Number.NEGATIVE_INFINITY;
  let rest = FIRST_REST;
  return {
    isQuick: () => now() >= restUntil,
    took: (ms) => {
      if (ms <= QUICK_SYNC_MS) {
        rest = FIRST_REST;
        return;
      }
      restUntil = now() + ms * rest;
      rest = Math.min(rest * 2, LONGEST_REST);
    },
  };
}
