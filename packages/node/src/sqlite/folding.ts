import type { Logger } from "@ergon/core";
import { fromSqlite } from "./sqlite-errors.ts";

/** A tail is folded at the latest after this long, so that a quiet store is tidy and holds no commits in memory. */
export const FOLD_AFTER_MS = 250;

export type Folding = {
  /** There is, or will be, something to fold. */
  readonly soon: () => void;
  /** Folds what there is, for good. */
  readonly end: () => void;
};

/** A fold that fails is no loss: the tail stays where it is, and the next fold or the next start takes it up. */
export function createFolding(fold: () => void, logger: Logger | undefined): Folding {
  let timer: NodeJS.Timeout | undefined;

  function attempt(): boolean {
    try {
      fold();
      return true;
    } catch (thrown) {
      const error = fromSqlite(thrown, "putting commits into their tables").toJSON();
      logger?.warn({ error }, "Commits stay in the tail for now.");
      return false;
    }
  }

  function soon(): void {
    if (timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      if (!attempt()) soon();
    }, FOLD_AFTER_MS);
    // A process that has nothing else to do may end: the tail is safe.
    timer.unref();
  }

  return {
    soon,
    end: () => {
      clearTimeout(timer);
      attempt();
    },
  };
}
