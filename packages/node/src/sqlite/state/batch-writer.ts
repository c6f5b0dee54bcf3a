import type { ErgonError } from "@ergon/core";
import { storeError } from "@ergon/core/schema";
import { type BatchOutcome, type CommitReceipt, type CommitRows, newsOf, refuse } from "@ergon/core/store-kit";
import type { OwnedDatabase } from "../database/owned-database.ts";
import { createSessionDirectory, type KnownSession } from "./session-directory.ts";
import { readRun } from "./read-runs.ts";
import { fromSqlite, isBusy, isConstraint } from "../database/sqlite-errors.ts";
import { createWriteStatements, writeRows } from "./write-rows.ts";

/*
 * Writes batches of commits.
 *
 * W1  A batch is one transaction. When it cannot be written, each of its commits is tried alone: only the guilty one is
 *     refused (S4).
 * W2  A commit that is refused for what it says (a version, a second finish) is refused before anything is written for it.
 * W3  What memory knows of sessions and numbers is what the tables have: a transaction that failed is forgotten whole.
 */
export type BatchWriter = {
  /** Never throws: a batch that could not be written is an outcome. */
  readonly apply: (batch: readonly CommitRows[]) => BatchOutcome;
  readonly lastSeq: () => number;
  readonly numberOf: (sessionId: string) => number | undefined;
};

export function createBatchWriter(database: OwnedDatabase): BatchWriter {
  const statements = createWriteStatements(database);
  const directory = createSessionDirectory(database);
  const selectOpen = database.prepare("SELECT state = 'started' AS open FROM journal WHERE session_n = ? AND ord = ?");
  const highest = (sql: string): number => Number(database.prepare(sql).get()?.["highest"] ?? 0);
  let lastSeq = highest("SELECT max(seq) AS highest FROM events");
  let lastN = highest("SELECT max(n) AS highest FROM sessions");

  /** Throws what makes a commit impossible. After it, nothing but the disk can refuse the commit. */
  function check(rows: CommitRows, session: KnownSession | undefined): void {
    const { sessionId, expectVersion, journal } = rows;
    const version = session?.version ?? 0;
    if (expectVersion !== undefined && expectVersion !== version)
      throw refuse.conflict(sessionId, expectVersion, version);
    if (session === undefined && rows.session === undefined && sessionId !== "") throw refuse.unknownSession(sessionId);
    if (rows.run !== undefined) {
      const taken = readRun(database, { owner: rows.owner, id: rows.run.id });
      if (taken !== undefined) throw refuse.runTaken(taken);
    }
    // Positions that come twice in this commit, as a start and its end may.
    const own = new Map<string, boolean>();
    for (const { position, start, end } of journal) {
      const open = own.get(position) ?? isOpen(session, position);
      if (start !== undefined && open !== undefined) throw refuse.positionTaken(sessionId, position);
      if (start === undefined && open === undefined) throw refuse.positionUnknown(sessionId, position);
      if (start === undefined && open === false) throw refuse.positionSettled(sessionId, position);
      if (journal.length > 1) own.set(position, end === undefined);
    }
  }

  /** Whether the journal row waits for its end; undefined when there is none. */
  function isOpen(session: KnownSession | undefined, position: string): boolean | undefined {
    if (session === undefined || (session.tip !== undefined && position > session.tip)) return undefined;
    const row = selectOpen.get(session.n, position);
    return row === undefined ? undefined : row["open"] === 1;
  }

  function attempt(rows: CommitRows, taken: CommitRows[]): CommitReceipt | ErgonError {
    const { sessionId, session: row } = rows;
    const known = sessionId === "" ? undefined : directory.find(sessionId);
    try {
      check(rows, known);
    } catch (thrown) {
      return fromSqlite(thrown, "checking a commit");
    }
    const n = known?.n ?? (row === undefined ? undefined : ++lastN);
    writeRows(statements, rows, { n, known, firstSeq: lastSeq + 1 });
    lastSeq += rows.events.length;
    const version = (known?.version ?? 0) + (row === undefined ? 0 : 1);
    if (n !== undefined)
      directory.note(sessionId, { n, version, status: row?.status ?? known?.status ?? "", tip: tipAfter(known, rows) });
    taken.push(rows);
    return { version, lastSeq };
  }

  function record(batch: readonly CommitRows[]): BatchOutcome {
    const before = { lastSeq, lastN };
    const taken: CommitRows[] = [];
    try {
      const receipts = database.write("writing a commit", () => batch.map((rows) => attempt(rows, taken)));
      return { receipts, news: newsOf(taken, before.lastSeq) };
    } catch (thrown) {
      ({ lastSeq, lastN } = before);
      directory.forget();
      throw thrown;
    }
  }

  function recordAlone(rows: CommitRows): BatchOutcome {
    try {
      return record([rows]);
    } catch (thrown) {
      const error = fromSqlite(thrown, "writing a commit");
      if (isConstraint(error)) database.stop(contradiction(database.path, error));
      return { receipts: [error], news: [] };
    }
  }

  return {
    apply: (batch) => {
      try {
        return record(batch);
      } catch (thrown) {
        const error = fromSqlite(thrown, "writing commits");
        // Each would wait as long again.
        if (isBusy(error)) return { receipts: batch.map(() => error), news: [] };
      }
      const alone = batch.map(recordAlone);
      return { receipts: alone.flatMap(({ receipts }) => receipts), news: alone.flatMap(({ news }) => news) };
    },
    lastSeq: () => lastSeq,
    numberOf: (sessionId) => directory.find(sessionId)?.n,
  };
}

/** The highest position of the session, as long as all of them were seen. */
function tipAfter(known: KnownSession | undefined, { journal }: CommitRows): string | undefined {
  let tip = known === undefined ? "" : known.tip;
  for (const { position, start } of journal)
    if (start !== undefined && tip !== undefined && position > tip) tip = position;
  return tip;
}

function contradiction(path: string, cause: ErgonError): ErgonError {
  return storeError(
    "store_corrupt",
    `${path} refused a commit that had been checked: ${cause.message} Run \`ergon doctor\`, or restore the data folder from a copy.`,
    { cause },
  );
}
