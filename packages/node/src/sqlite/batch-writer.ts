import type { DatabaseSync } from "node:sqlite";
import {
  type BatchOutcome,
  type CommitReceipt,
  type CommitRows,
  type ErgonError,
  newsOf,
  storeError,
} from "@ergon/core";
import { createCommitCheck } from "./check-commit.ts";
import type { CommitLog } from "./commit-log.ts";
import { foldTail } from "./fold.ts";
import { createSessionDirectory } from "./session-directory.ts";
import { fromSqlite } from "./sqlite-errors.ts";
import { createTail, type TailNumbers, type TailWriter } from "./tail.ts";
import { readTailText, tailText } from "./tail-text.ts";
import { createWriteStatements, inTransaction, noteFolded } from "./write-statements.ts";

/*
 * Writes batches of commits: into the log, and from time to time all that the tables do not have, the tail, into the tables.
 *
 * W1  A batch is one record of the log. When it cannot be written, each of its commits is tried as a record of its own:
 *     only the guilty one is refused (S4).
 * W2  A commit that is refused for what it says (a fence, a second finish) is refused before anything is written.
 * W3  What memory has of the tail is what the log has: after a write that came to nothing it is read again.
 * W4  The tail is bounded: past its bounds it is to be folded, here or by another thread.
 */
export type BatchWriter = {
  /** Never throws: a batch that could not be written is an outcome. */
  readonly apply: (batch: readonly CommitRows[]) => BatchOutcome;
  /** Throws when it has to be read again and cannot be. */
  readonly tail: () => TailWriter;
  /** How often over the tail is what it may be. */
  readonly excess: () => number;
  /**
   * Puts everything into the tables; throws when the disk does not take it and while something is away, and then nothing
   * has changed.
   */
  readonly fold: () => void;
  /** Gives the tail to somebody else to fold; undefined when there is nothing to give. */
  readonly sendAway: () => FoldTask | undefined;
  /** Whether the tables have what was sent away. Throws when they cannot be asked; then it is away still. */
  readonly back: () => boolean;
};

/** Records of the log, behind `after` and up to `upTo`; `numbers` are those that the tables end with before. */
export type FoldTask = {
  readonly texts: readonly string[];
  readonly after: number;
  readonly upTo: number;
  readonly numbers: TailNumbers;
};

/** What the tail may hold before it is folded. */
export const MAX_TAIL_COMMITS = 500;
export const MAX_TAIL_CHARS = 512 * 1024;

export function createBatchWriter(db: DatabaseSync, log: CommitLog, maxTailCommits = MAX_TAIL_COMMITS): BatchWriter {
  const statements = createWriteStatements(db);
  const tail = createTail(createSessionDirectory(db), {
    lastSeq: highest(db, "SELECT max(seq) AS highest FROM events"),
    lastN: highest(db, "SELECT max(n) AS highest FROM sessions"),
  });
  const check = createCommitCheck(db, tail);
  const selectFolded = db.prepare("SELECT folded FROM log");
  /** What an Ergon before the log kept in a table. */
  let inherited = db
    .prepare("SELECT commits FROM tail ORDER BY id")
    .all()
    .map((row) => String(row["commits"]));
  /** The tables have every record up to this. */
  let folded = storedMark();
  /** And when somebody else is done, up to this. */
  let sent: number | undefined;
  /** The records behind these. */
  let texts: string[] = [];
  let isLoaded = false;
  load();

  function storedMark(): number {
    return Number(selectFolded.get()?.["folded"]);
  }

  /** Reads the tail anew: at the start, and when a write came to nothing. */
  function load(): void {
    if (isLoaded) return;
    tail.reset();
    texts = [...(sent === undefined ? inherited : []), ...log.after(sent ?? folded)];
    for (const text of texts) for (const rows of readTailText(text)) tail.add(rows);
    isLoaded = true;
  }

  /** Undefined when several commits were tried and one spoilt it. */
  function record(batch: readonly CommitRows[]): BatchOutcome | undefined {
    const added: CommitRows[] = [];
    let lastSeq = 0;
    let receipts: BatchOutcome["receipts"] = [];
    try {
      load();
      lastSeq = tail.now().lastSeq;
      receipts = batch.map((rows) => attempt(rows, added));
      if (added.length > 0) append(tailText(added));
    } catch (thrown) {
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

  function append(text: string): void {
    log.append(text);
    texts.push(text);
  }

  function fold(): void {
    if (sent !== undefined)
      throw storeError("store_unavailable", "Another thread has not put its commits into their tables yet.", {
        retryable: true,
      });
    load();
    if (tail.now().commits === 0) return;
    inTransaction(db, statements, () => {
      foldTail(statements, tail.now());
      if (inherited.length > 0) statements.clearTail.run();
      noteFolded(statements, folded, log.last());
    });
    inherited = [];
    texts = [];
    folded = log.last();
    tail.folded();
    log.folded(folded);
  }

  return {
    apply: (batch) => {
      const full = log.refusal();
      if (full !== undefined) return { receipts: batch.map(() => full), news: [] };
      const together = record(batch);
      if (together !== undefined) return together;
      const alone = batch.map((rows) => record([rows]));
      return {
        receipts: alone.flatMap((outcome) => outcome?.receipts ?? []),
        news: alone.flatMap((outcome) => outcome?.news ?? []),
      };
    },
    tail: () => {
      load();
      return tail;
    },
    excess: () => Math.max(tail.now().commits / maxTailCommits, tail.now().chars / MAX_TAIL_CHARS),
    fold,
    sendAway: () => {
      load();
      // What is not in the log nobody else can be told of by its number.
      if (inherited.length > 0 || tail.now().commits === 0) return undefined;
      const task = { texts, after: folded, upTo: log.last(), numbers: tail.sendAway() };
      sent = task.upTo;
      texts = [];
      return task;
    },
    back: () => {
      const isFolded = sent !== undefined && storedMark() === sent;
      if (isFolded && sent !== undefined) {
        folded = sent;
        log.folded(folded);
      } else {
        isLoaded = false;
      }
      sent = undefined;
      tail.back(isFolded);
      return isFolded;
    },
  };
}

function highest(db: DatabaseSync, sql: string): number {
  return Number(db.prepare(sql).get()?.["highest"] ?? 0);
}
