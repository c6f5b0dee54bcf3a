import type { DatabaseSync } from "node:sqlite";
import type { BatchOutcome, CommitReceipt, CommitRows, ErgonError, JsonObject, StoredEvent } from "@ergon/core";
import { createCommitWriter } from "./commit-writer.ts";
import { fromSqlite } from "./sqlite-errors.ts";
import { createWriteStatements } from "./write-statements.ts";

/*
 * Writes batches of commits.
 *
 * W1  A batch is one transaction. When one of its commits fails after a statement ran, all is rolled back and each
 *     commit is tried in a transaction of its own: only the guilty one is refused (S4).
 * W2  A commit that is refused before its first statement (a fence, a second finish) costs its neighbours nothing.
 * W3  What was remembered of sessions and event numbers is forgotten with the transaction it came from.
 */
export type BatchWriter = {
  /** Never throws: a batch that could not be written is an outcome. */
  readonly apply: (batch: readonly CommitRows[]) => BatchOutcome;
  readonly lastSeq: () => number;
};

/** `effects`: transactions with a commit that asks for it are synced to the disk; `always`: all are. */
export type Fsync = "effects" | "always";

export function createBatchWriter(db: DatabaseSync, fsync: Fsync, watched: () => boolean): BatchWriter {
  const statements = createWriteStatements(db);
  const writer = createCommitWriter(db, statements);
  let synced = false;

  /** Undefined when several commits were tried and one spoilt it. */
  function transaction(batch: readonly CommitRows[]): BatchOutcome | undefined {
    const before = writer.lastSeq();
    try {
      setSync(fsync === "always" || batch.some(({ durable }) => durable));
      statements.begin.run();
      const receipts = batch.map(attempt);
      statements.commit.run();
      return { receipts, events: watched() ? eventsOf(batch, receipts, before) : [] };
    } catch (thrown) {
      rollback();
      writer.rewind(before);
      return batch.length > 1 ? undefined : { receipts: [fromSqlite(thrown, "writing a commit")], events: [] };
    }
  }

  function attempt(rows: CommitRows): CommitReceipt | ErgonError {
    try {
      return writer.write(rows);
    } catch (thrown) {
      if (writer.touched()) throw thrown;
      return fromSqlite(thrown, "writing a commit");
    }
  }

  /** Some errors make SQLite end the transaction itself. */
  function rollback(): void {
    try {
      if (db.isTransaction) db.exec("ROLLBACK");
    } catch {
      // Without its commit mark in the log, the transaction is void all the same.
    }
  }

  function setSync(wanted: boolean): void {
    if (wanted === synced) return;
    db.exec(`PRAGMA synchronous = ${wanted ? "FULL" : "NORMAL"}`);
    synced = wanted;
  }

  return {
    apply: (batch) => {
      const together = transaction(batch);
      if (together !== undefined) return together;
      const alone = batch.map((rows) => transaction([rows]));
      return {
        receipts: alone.flatMap((outcome) => outcome?.receipts ?? []),
        events: alone.flatMap((outcome) => outcome?.events ?? []),
      };
    },
    lastSeq: writer.lastSeq,
  };
}

function eventsOf(batch: readonly CommitRows[], receipts: BatchOutcome["receipts"], before: number): StoredEvent[] {
  let seq = before;
  return batch.flatMap(({ events, owner, sessionId }, n) => {
    if (receipts[n] instanceof Error) return [];
    return events.map(({ type, at, data }) => {
      seq += 1;
      const stored = { type, at, data: JSON.parse(data) as JsonObject, seq, owner };
      return sessionId === "" ? stored : { ...stored, sessionId };
    });
  });
}
