import { toErgonError, type ErgonError } from "../errors/ergon-error.ts";
import type { Logger } from "../ports/logger.ts";
import type { Commit, CommitNews, CommitReceipt, CommitSource } from "../ports/state-store.ts";
import { commitRows, type CommitRows } from "./commit-rows.ts";
import { refuse } from "./store-refusals.ts";

/*
 * Gathers the commits of one turn of the event loop and hands them to a store as one batch. The store decides what
 * becomes of each; this file owns order, bounds, promises and watchers.
 *
 * Q1  Commits reach the store in the order in which they were made.
 * Q2  Watchers hear of a batch before its promises resolve; one that throws disturbs nobody.
 * Q3  A queue that is full refuses at once and keeps what it has.
 * Q4  A durable commit resolves when a sync that began after it was applied has ended; the others do not wait for it.
 */

/** So many commits may wait at once; they are those of a single turn. */
export const MAX_QUEUED_COMMITS = 10_000;
export const MAX_QUEUED_CHARS = 64 * 1024 * 1024;
/** One transaction takes at most this much, so that it neither blocks the loop for long nor swells a log. */
export const MAX_BATCH_COMMITS = 1_000;
export const MAX_BATCH_CHARS = 16 * 1024 * 1024;

export type BatchOutcome = {
  /** One per commit, in order. */
  readonly receipts: readonly (CommitReceipt | ErgonError)[];
  readonly news: readonly CommitNews[];
};

type Listener = (news: readonly CommitNews[]) => void;

export type CommitQueue = {
  readonly commit: (commit: CommitSource) => Promise<CommitReceipt>;
  readonly watch: (listener: Listener) => () => void;
  /** Writes what waits; then refuses everything. */
  readonly close: () => void;
  readonly closed: () => boolean;
};

export type CommitQueueParts = {
  /** Must not throw: a batch that could not be written is an outcome. */
  readonly apply: (batch: readonly CommitRows[]) => BatchOutcome;
  /** Resolves when everything that was applied so far survives the loss of power. */
  readonly sync?: () => Promise<void>;
  /** Calls back when the present turn is over. */
  readonly atTurnEnd: (flush: () => void) => void;
  readonly logger: Logger | undefined;
};

export function createCommitQueue({ apply, sync, atTurnEnd, logger }: CommitQueueParts): CommitQueue {
  const listeners = new Set<Listener>();
  let waiting: Waiting[] = [];
  let chars = 0;
  let scheduled = false;
  let closed = false;

  function flush(): void {
    scheduled = false;
    const batch = takeBatch();
    if (batch.length > 0) hand(batch);
    schedule();
  }

  function hand(batch: readonly Made[]): void {
    const { receipts, news } = apply(batch.map(({ rows }) => rows));
    if (news.length > 0) tell(news);
    // Only for what was written: nothing else waits for the sync, and its failure would be an unhandled rejection.
    const owesSync = batch.some(({ rows }, index) => rows.durable && isReceipt(receipts[index]));
    const synced = owesSync ? sync?.() : undefined;
    for (const [index, { rows, resolve, reject }] of batch.entries()) {
      const receipt = receipts[index];
      if (!isReceipt(receipt)) reject(receipt ?? refuse.closed());
      else resolve(synced !== undefined && rows.durable ? synced.then(() => receipt) : receipt);
    }
  }

  function takeBatch(): readonly Made[] {
    const batch: Made[] = [];
    let end = 0;
    let taken = 0;
    for (const commit of waiting) {
      const made = isMade(commit) ? commit : make(commit);
      if (made !== undefined) {
        if (batch.length === MAX_BATCH_COMMITS || (batch.length > 0 && taken + made.rows.chars > MAX_BATCH_CHARS)) {
          waiting[end] = made;
          break;
        }
        taken += made.rows.chars;
        batch.push(made);
      }
      end += 1;
    }
    waiting = end === waiting.length ? [] : waiting.slice(end);
    for (const { rows, isCounted } of batch) if (isCounted) chars -= rows.chars;
    return batch;
  }

  /** Undefined when nothing can be made of it; whoever waits has been told then. */
  function make({ source, resolve, reject }: ToMake): Made | undefined {
    try {
      return { rows: commitRows(source()), isCounted: false, resolve, reject };
    } catch (thrown) {
      reject(toErgonError(thrown, "commit_invalid"));
      return undefined;
    }
  }

  function schedule(): void {
    if (scheduled || closed || waiting.length === 0) return;
    scheduled = true;
    atTurnEnd(flush);
  }

  function tell(news: readonly CommitNews[]): void {
    for (const listener of listeners) {
      try {
        listener(news);
      } catch (thrown) {
        logger?.error({ error: thrown }, "A listener of the store's events threw; the commit stands.");
      }
    }
  }

  return {
    commit: (commit) =>
      new Promise<CommitReceipt>((resolve, reject) => {
        if (closed) throw refuse.closed();
        if (waiting.length >= MAX_QUEUED_COMMITS) throw refuse.queueFull(`${String(MAX_QUEUED_COMMITS)} commits`);
        if (typeof commit === "function") {
          waiting.push({ source: commit, resolve, reject });
        } else {
          const rows = commitRows(commit);
          if (chars + rows.chars > MAX_QUEUED_CHARS) throw refuse.queueFull(`${String(chars)} characters of commits`);
          chars += rows.chars;
          waiting.push({ rows, isCounted: true, resolve, reject });
        }
        schedule();
      }),
    watch: (listener) => {
      // Wrapped, so that one function may watch twice.
      const own: Listener = (news) => listener(news);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    close: () => {
      closed = true;
      while (waiting.length > 0) flush();
    },
    closed: () => closed,
  };
}

type Promised = {
  readonly resolve: (receipt: CommitReceipt | Promise<CommitReceipt>) => void;
  readonly reject: (error: ErgonError) => void;
};
/** `isCounted`: among the characters that may wait. What is made late is its maker's until then, who has a bound of their own. */
type Made = Promised & { readonly rows: CommitRows; readonly isCounted: boolean };
type ToMake = Promised & { readonly source: () => Commit };
type Waiting = Made | ToMake;

function isReceipt(receipt: CommitReceipt | ErgonError | undefined): receipt is CommitReceipt {
  return receipt !== undefined && !(receipt instanceof Error);
}

function isMade(commit: Waiting): commit is Made {
  return "rows" in commit;
}
