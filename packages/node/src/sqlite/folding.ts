import { setTimeout } from "node:timers/promises";
import type { Logger } from "@ergon/core";
import type { BatchWriter } from "./batch-writer.ts";
import type { FoldThread } from "./fold-thread.ts";
import { fromSqlite } from "./sqlite-errors.ts";

/** A tail is folded at the latest after this long, so that a quiet store is tidy and holds no commits in memory. */
export const FOLD_AFTER_MS = 250;
/** A tail that has grown to so many times its bounds while another thread folds waits for that thread. */
export const MAX_EXCESS = 16;
const MAX_WAIT_MS = 1_000;
/** So long the end waits for another thread. */
const MAX_END_MS = 3_000;

export type Folding = {
  /** Commits were added. */
  readonly grew: () => void;
  /** Resolves when the tables have everything; rejects when they do not take it. */
  readonly whole: () => Promise<void>;
  /** Folds what there is, for good. */
  readonly end: () => Promise<void>;
};

/** When the tail is folded, and by whom. A fold that fails is no loss: the log has it, and the next one takes it up. */
export function createFolding(
  writer: BatchWriter,
  thread: FoldThread | undefined,
  logger: Logger | undefined,
): Folding {
  let timer: NodeJS.Timeout | undefined;
  let hasFailed = false;
  let hasEnded = false;
  /** Ends when what was sent away is back. */
  let away: Promise<void> | undefined;

  function attempt(fold: () => void = writer.fold): void {
    try {
      hasFailed = false;
      fold();
    } catch (thrown) {
      hasFailed = true;
      const error = fromSqlite(thrown, "putting commits into their tables").toJSON();
      logger?.warn({ error }, "Commits stay in the log for now.");
      soon();
    }
  }

  function sendAway(by: FoldThread): void {
    const task = writer.sendAway();
    if (task === undefined) writer.fold();
    else away = by.fold(task).then(takeBack);
  }

  /** What is away stays so until the tables say whether they have it. */
  async function takeBack(): Promise<void> {
    do {
      try {
        hasFailed = !writer.back();
        away = undefined;
        if (hasFailed) soon();
        return;
      } catch (thrown) {
        const error = fromSqlite(thrown, "looking for what was put into the tables").toJSON();
        logger?.warn({ error }, "The tables cannot be read; trying again.");
        await setTimeout(FOLD_AFTER_MS, undefined, { ref: false });
      }
    } while (!hasEnded);
  }

  function soon(): void {
    if (timer !== undefined) return;
    timer = globalThis.setTimeout(() => {
      timer = undefined;
      if (away === undefined) attempt();
      else soon();
    }, FOLD_AFTER_MS);
    // A process that has nothing else to do may end: the log is safe.
    timer.unref();
  }

  return {
    grew: () => {
      const excess = writer.excess();
      // After a failure it is tried again when its time has come: each attempt costs what the whole tail does.
      if (excess <= 1 || hasFailed) return soon();
      if (away !== undefined) {
        if (excess > MAX_EXCESS) thread?.wait(MAX_WAIT_MS);
        return soon();
      }
      attempt(thread?.isReady() === true ? () => sendAway(thread) : writer.fold);
    },
    whole: async () => {
      await away;
      writer.fold();
    },
    end: async () => {
      clearTimeout(timer);
      await Promise.race([away, setTimeout(MAX_END_MS, undefined, { ref: false })]);
      hasEnded = true;
      // One that was not done in time comes to nothing; the rest is ours.
      await thread?.close();
      await away;
      if (away === undefined) attempt();
      clearTimeout(timer);
    },
  };
}
