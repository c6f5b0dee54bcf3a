/**
 * A quick disk takes a sync in less time than another thread needs to hear of it and to tell: then it is done at once. When
 * one has taken long, the next ones are done by another thread for a while; and for twice as long, if the first one after
 * that takes long again. So slow ones keep the process from its work for a small part of the time only, and on a disk that
 * is always slow for next to none.
 */
export type SyncPace = {
  readonly isQuick: () => boolean;
  readonly took: (ms: number) => void;
};

export const QUICK_SYNC_MS = 0.3;
/** So many times as long as a slow one took, others are left to another thread. */
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
