import type { DatabaseSync } from "node:sqlite";
import { type BatchOutcome, type CommitReceipt, type CommitRows, type ErgonError, newsOf } from "@ergon/core";
import { createCommitCheck } from "./check-commit.ts";
import { foldTail } from "./fold.ts";
import { createSessionDirectory } from "./session-directory.ts";
import { fromSqlite } from "./sqlite-errors.ts";
import { createTail, type Tail } from "./tail.ts";
import { readTailText, tailText } from "./tail-text.ts";
import { createWriteStatements } from "./write-statements.ts";

/*
 * Writes batches of commits: into the tail, and from time to time the whole tail into the tables.
 *
 * W1  A batch is one transaction. When it cannot be written, each of its commits is tried in a transaction of its own:
 *     only the guilty one is refused (S4).
 * W2  A commit that is refused for what it says (a fence, a second finish) is refused before the transaction.
 * W3  What memory has of the tail is what the tail has: after a transaction that came to nothing it is read again.
 * W4  The tail is bounded: past its bounds it is folded together with the batch, which then needs no row in it.
 */
export type BatchWriter = {
  /** Never throws: a batch that could not be written is an outcome. */
  readonly apply: (batch: readonly CommitRows[]) => BatchOutcome;
  /** Throws when it has to be read again and cannot be. */
  readonly tail: () => Tail;
  /** Puts everything into the tables; throws when the disk does not take it, and then nothing has changed. */
  readonly fold: () => void;
  /** The same for somebody who is about to read. */
  readonly foldToRead: () => void;
};

/**
 * What the tail may hold before it is folded. Many runs at once fill it with every batch or two, and would write all they
 * have twice if it held more.
 */
export const MAX_TAIL_COMMITS = 500;
export const MAX_TAIL_CHARS = 512 * 1024;
/** A reader that folds a tail shorter than this will read again soon: the next batches go straight to the tables. */
const SHORT_TAIL_COMMITS = 8;
const DIRECT_BATCHES = 16;

export function createBatchWriter(db: DatabaseSync): BatchWriter {
  const statements = createWriteStatements(db);
  const tail = createTail(createSessionDirectory(db), {
    lastSeq: highest(db, "SELECT max(seq) AS highest FROM events"),
    lastN: highest(db, "SELECT max(n) AS highest FROM sessions"),
  });
  const check = createCommitCheck(db, tail);
  const selectTail = db.prepare("SELECT commits FROM tail ORDER BY id");
  let direct = 0;
  let isLoaded = false;
  load();

  /** Reads the tail anew: at the start, and when a transaction came to nothing. */
  function load(): void {
    if (isLoaded) return;
    tail.reset();
    for (const row of selectTail.all()) for (const rows of readTailText(String(row["commits"]))) tail.add(rows);
    isLoaded = true;
  }

  /** Undefined when several commits were tried and one spoilt it. */
  function transaction(batch: readonly CommitRows[]): BatchOutcome | undefined {
    const added: CommitRows[] = [];
    let lastSeq = 0;
    let receipts: BatchOutcome["receipts"] = [];
    try {
      load();
      lastSeq = tail.now().lastSeq;
      receipts = batch.map((rows) => attempt(rows, added));
      if (added.length > 0) write(added);
    } catch (thrown) {
      rollback();
      isLoaded = false;
      return batch.length > 1 ? undefined : { receipts: [fromSqlite(thrown, "writing a commit")], news: [] };
    }
    return { receipts, news: newsOf(added, lastSeq) };
  }

  function attempt(rows: CommitRows, added: CommitRows[]): CommitReceipt | ErgonError {
    try {
      check(rows);
    } catch (thrown) {
      return fromSqlite(thrown, "checking a commit");
    }
    const session = tail.add(rows);
    added.push(rows);
    return { version: session?.version ?? 0, lastSeq: tail.now().lastSeq };
  }

  function write(added: readonly CommitRows[]): void {
    const { commits, chars } = tail.now();
    if (direct > 0 || commits > MAX_TAIL_COMMITS || chars > MAX_TAIL_CHARS) {
      if (direct > 0) direct -= 1;
      foldNow();
    } else {
      statements.addTail.run(tailText(added));
    }
  }

  function foldNow(): void {
    statements.begin.run();
    foldTail(statements, tail.now());
    statements.commit.run();
    tail.folded();
  }

  function fold(): void {
    load();
    if (tail.now().commits === 0) return;
    try {
      foldNow();
    } catch (thrown) {
      rollback();
      throw thrown;
    }
  }

  function foldToRead(): void {
    const { commits } = tail.now();
    fold();
    if (commits > 0 && commits < SHORT_TAIL_COMMITS) direct = DIRECT_BATCHES;
  }

  /** Some errors make SQLite end the transaction itself. */
  function rollback(): void {
    try {
      if (db.isTransaction) db.exec("ROLLBACK");
    } catch {
      // Without its commit mark in the log, the transaction is void all the same.
    }
  }

  return {
    apply: (batch) => {
      const together = transaction(batch);
      if (together !== undefined) return together;
      const alone = batch.map((rows) => transaction([rows]));
      return {
        receipts: alone.flatMap((outcome) => outcome?.receipts ?? []),
        news: alone.flatMap((outcome) => outcome?.news ?? []),
      };
    },
    tail: () => {
      load();
      return tail.now();
    },
    fold,
    foldToRead,
  };
}

function highest(db: DatabaseSync, sql: string): number {
  return Number(db.prepare(sql).get()?.["highest"] ?? 0);
}
