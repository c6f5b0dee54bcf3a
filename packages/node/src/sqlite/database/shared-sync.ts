import { setImmediate as immediate } from "node:timers/promises";

export type SharedSync = {
  /** Something was written that is not on the disk yet. */
  readonly grew: () => void;
  /** Resolves when everything written so far is on the disk; at once when it is. */
  readonly sync: () => Promise<void>;
};

/** While each turn of the event loop writes more, a sync waits for it, but not longer than so many. */
export const MAX_TURNS_WAITED = 4;

type Round = {
  /** Unknown until it begins: then it is all that was written before. */
  covers: number | undefined;
  readonly promise: Promise<void>;
};

/**
 * One sync at a time: those who ask while one is under way share the next, which covers all that is written by then. A
 * sync takes as long as a short run, so it waits for what is about to be written: a plan that is over in a few turns
 * needs one instead of two.
 */
export function createSharedSync(flush: () => Promise<void>, turn: () => Promise<unknown> = twoTurns): SharedSync {
  let written = 0;
  let onDisk = 0;
  let running: Round | undefined;
  let next: PromiseWithResolvers<void> | undefined;

  function begin(): Promise<void> {
    const round: Round = { covers: undefined, promise: syncOnce() };
    running = round;
    return round.promise;

    async function syncOnce(): Promise<void> {
      try {
        await untilQuiet();
        round.covers = written;
        await flush();
        onDisk = round.covers;
      } finally {
        running = undefined;
        const following = next;
        next = undefined;
        following?.resolve(begin());
      }
    }
  }

  async function untilQuiet(): Promise<void> {
    for (let turns = 0; turns < MAX_TURNS_WAITED; turns += 1) {
      const before = written;
      await turn();
      if (written === before) return;
    }
  }

  return {
    grew: () => {
      written += 1;
    },
    sync: () => {
      if (onDisk === written) return Promise.resolve();
      if (running === undefined) return begin();
      if (running.covers === undefined || running.covers === written) return running.promise;
      next ??= Promise.withResolvers();
      return next.promise;
    },
  };
}

/** What this turn asks to be written is written in the next one, after whatever asked for that turn before it. */
async function twoTurns(): Promise<void> {
  await immediate();
  await immediate();
}
