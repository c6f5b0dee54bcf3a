import { type AgenticPlan, createCommitQueue, type Logger, refuse, type StateStore } from "@ergon/core";
import { createBatchWriter, type Fsync } from "./batch-writer.ts";
import { openDatabase } from "./open-database.ts";
import { readJournal, readJournalRow } from "./read-journal.ts";
import { readEnergy, readEvents } from "./read-ledgers.ts";
import { listSessions, readContext, readScopes, readSession } from "./read-sessions.ts";
import { createReader } from "./reader.ts";
import { MAX_KNOWN_SESSIONS } from "./session-directory.ts";
import { fromSqlite } from "./sqlite-errors.ts";

export type SqliteStoreOptions = {
  /** A file, or ":memory:". */
  readonly path: string;
  readonly fsync?: Fsync;
  readonly logger?: Logger;
  readonly checkpointPages?: number;
};

export type SqliteStateStore = StateStore & {
  /** Reads the whole file and names what is damaged; nothing, when it is sound. Slow: for `doctor`, not for opening. */
  readonly verify: () => Promise<readonly string[]>;
};

/** The default store. Throws `store_unavailable`, `store_corrupt` or `store_newer`, and then has changed nothing. */
export function openSqliteStateStore(options: SqliteStoreOptions): SqliteStateStore {
  const db = openDatabase(options);
  const reader = createReader(db);
  const writer = createBatchWriter(db, options.fsync ?? "effects", () => queue.watched());
  // A session keeps its number for ever.
  const numbers = new Map<string, number>();
  const queue = createCommitQueue({
    apply: writer.apply,
    atTurnEnd: (flush) => void setImmediate(flush),
    logger: options.logger,
  });

  async function reading<T>(what: string, read: () => T | Promise<T>): Promise<T> {
    if (queue.closed()) throw refuse.closed();
    try {
      return await read();
    } catch (thrown) {
      throw fromSqlite(thrown, `reading ${what}`);
    }
  }

  function numberOf(sessionId: string): number | undefined {
    const known = numbers.get(sessionId);
    if (known !== undefined) return known;
    const n = reader.all<{ readonly n: number }>("SELECT n FROM sessions WHERE id = ?", sessionId)[0]?.n;
    if (n === undefined) return undefined;
    if (numbers.size >= MAX_KNOWN_SESSIONS) numbers.clear();
    numbers.set(sessionId, n);
    return n;
  }

  function ofSession<T>(what: string, sessionId: string, absent: T, read: (n: number) => T): Promise<T> {
    return reading(what, () => {
      const n = numberOf(sessionId);
      return n === undefined ? absent : read(n);
    });
  }

  return {
    commit: queue.commit,
    watch: queue.watch,
    readSession: (sessionId) => reading("a session", () => readSession(reader, sessionId)),
    listSessions: (query) => reading("sessions", () => listSessions(reader, query)),
    readPlan: (hash) =>
      reading("a plan", () => {
        const [row] = reader.all<{ readonly plan: string }>("SELECT plan FROM plans WHERE hash = ?", hash);
        return row === undefined ? undefined : (JSON.parse(row.plan) as AgenticPlan);
      }),
    readContext: (sessionId, scopes) => ofSession("context", sessionId, [], (n) => readContext(reader, n, scopes)),
    readScopes: (query) => reading("context", () => readScopes(reader, numberOf(query.sessionId) ?? NO_SESSION, query)),
    readJournal: (query) =>
      reading("the journal", () => readJournal(reader, numberOf(query.sessionId) ?? NO_SESSION, query)),
    readJournalRow: (sessionId, ord) =>
      ofSession("the journal", sessionId, undefined, (n) => readJournalRow(reader, n, ord)),
    readEvents: (query) =>
      reading("events", () => {
        const n = query.sessionId === undefined ? undefined : numberOf(query.sessionId);
        return readEvents(reader, writer.lastSeq(), n, query);
      }),
    lastEventSeq: () => reading("events", writer.lastSeq),
    readCursor: (name) =>
      reading(
        "a cursor",
        () => reader.all<{ readonly seq: number }>("SELECT seq FROM cursors WHERE name = ?", name)[0]?.seq ?? 0,
      ),
    readEnergy: ({ sessionId, owner }) =>
      reading("energy", () =>
        readEnergy(reader, {
          ...(sessionId === undefined ? {} : { n: numberOf(sessionId) ?? NO_SESSION }),
          ...(owner === undefined ? {} : { owner }),
        }),
      ),
    readBlobRow: (id, owner) =>
      reading("a blob's row", () => {
        const select = "SELECT owner, bytes, media_type, at FROM blobs WHERE id = ?";
        const rows =
          owner === undefined
            ? reader.all<BlobColumns>(`${select} LIMIT 1`, id)
            : reader.all<BlobColumns>(`${select} AND owner = ?`, id, owner);
        return rows.map((row) => ({
          ref: { $blob: id, bytes: row.bytes, mediaType: row.media_type },
          at: row.at,
          owner: row.owner,
        }))[0];
      }),
    verify: () =>
      reading("the whole database", () => {
        const rows = reader.all<{ readonly integrity_check: string }>("PRAGMA integrity_check(20)");
        return rows.map((row) => row.integrity_check).filter((line) => line !== "ok");
      }),
    close: async () => {
      if (queue.closed()) return;
      queue.close();
      try {
        // Closing folds the log into the database; what cannot be folded stays in the log and is read at the next start.
        db.close();
      } catch (thrown) {
        throw fromSqlite(thrown, "closing the store");
      }
    },
  };
}

/** Numbers begin at 1. */
const NO_SESSION = 0;

type BlobColumns = { readonly owner: string; readonly bytes: number; readonly media_type: string; readonly at: string };
