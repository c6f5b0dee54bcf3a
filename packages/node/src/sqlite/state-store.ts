import type { DatabaseSync } from "node:sqlite";
import { type AgenticPlan, createCommitQueue, type Logger, refuse, type StateStore } from "@ergon/core";
import { createBatchWriter } from "./batch-writer.ts";
import { openDatabase } from "./open-database.ts";
import { readJournal, readJournalRow } from "./read-journal.ts";
import { readEnergy } from "./read-energy.ts";
import { readEvents } from "./read-events.ts";
import { listSessions, readContext, readScopes, readSession } from "./read-sessions.ts";
import { createReader } from "./reader.ts";
import { MAX_KNOWN_SESSIONS } from "./session-directory.ts";
import { createFolding } from "./folding.ts";
import { createLogSync } from "./log-sync.ts";
import { fromSqlite } from "./sqlite-errors.ts";
import type { TailSession } from "./tail-session.ts";

export type SqliteStoreOptions = {
  /** A file, or ":memory:". */
  readonly path: string;
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
  const writer = openWriter(db, options.path);
  const log = createLogSync(db, options.path);
  // A session keeps its number for ever.
  const numbers = new Map<string, number>();
  const folding = createFolding(writer.fold, options.logger);
  const queue = createCommitQueue({
    apply: (batch) => {
      folding.soon();
      log.grew();
      return writer.apply(batch);
    },
    sync: log.sync,
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

  /** The session's number, once the tables have all of it that `isConcerned` names. */
  function foldedNumber(sessionId: string, isConcerned: (session: TailSession) => boolean): number {
    const inTail = writer.tail().sessions.get(sessionId);
    if (inTail !== undefined && isConcerned(inTail)) writer.foldToRead();
    return numberOf(sessionId) ?? NO_SESSION;
  }

  return {
    commit: queue.commit,
    sync: log.sync,
    watch: queue.watch,
    changes: queue.changes,
    readSession: (sessionId) =>
      reading("a session", () => readSession(reader, sessionId, writer.tail().sessions.get(sessionId))),
    listSessions: (query) =>
      reading("sessions", () => {
        if (writer.tail().sessions.size > 0) writer.foldToRead();
        return listSessions(reader, query);
      }),
    readPlan: (hash) =>
      reading("a plan", () => {
        const [row] = reader.all<{ readonly plan: string }>("SELECT plan FROM plans WHERE hash = ?", hash);
        const { plan } = row ?? writer.tail().plans.get(hash) ?? {};
        return plan === undefined ? undefined : (JSON.parse(plan) as AgenticPlan);
      }),
    readContext: (sessionId, scopes) =>
      reading("context", () => readContext(reader, foldedNumber(sessionId, hasContext), scopes)),
    readScopes: (query) =>
      reading("context", () => readScopes(reader, foldedNumber(query.sessionId, hasContext), query)),
    readJournal: (query) =>
      reading("the journal", () => readJournal(reader, foldedNumber(query.sessionId, hasJournal), query)),
    readJournalRow: (sessionId, ord) =>
      reading("the journal", () => {
        const inTail = writer.tail().sessions.get(sessionId)?.journal.get(ord);
        return readJournalRow(reader, inTail?.intent === undefined ? numberOf(sessionId) : undefined, ord, inTail);
      }),
    readEvents: (query) =>
      reading("events", () => {
        const n = query.sessionId === undefined ? undefined : numberOf(query.sessionId);
        return readEvents(reader, writer.tail, n, query);
      }),
    lastEventSeq: () => reading("events", () => writer.tail().lastSeq),
    readCursor: (name) =>
      reading("a cursor", () => {
        const inTail = writer.tail().cursors.get(name);
        if (inTail !== undefined) return inTail.seq;
        return reader.all<{ readonly seq: number }>("SELECT seq FROM cursors WHERE name = ?", name)[0]?.seq ?? 0;
      }),
    readEnergy: ({ sessionId, owner }) =>
      reading("energy", () => {
        writer.foldToRead();
        return readEnergy(reader, {
          ...(sessionId === undefined ? {} : { n: numberOf(sessionId) ?? NO_SESSION }),
          ...(owner === undefined ? {} : { owner }),
        });
      }),
    readBlobRow: (id, owner) =>
      reading("a blob's row", () => {
        const select = "SELECT owner, bytes, media_type AS mediaType, at FROM blobs WHERE id = ?";
        const [stored] =
          owner === undefined
            ? reader.all<BlobColumns>(`${select} LIMIT 1`, id)
            : reader.all<BlobColumns>(`${select} AND owner = ?`, id, owner);
        const row =
          stored ?? writer.tail().blobs.find((blob) => blob.id === id && (owner === undefined || owner === blob.owner));
        if (row === undefined) return undefined;
        return { ref: { $blob: id, bytes: row.bytes, mediaType: row.mediaType }, at: row.at, owner: row.owner };
      }),
    verify: () =>
      reading("the whole database", () => {
        writer.fold();
        const rows = reader.all<{ readonly integrity_check: string }>("PRAGMA integrity_check(20)");
        return rows.map((row) => row.integrity_check).filter((line) => line !== "ok");
      }),
    close: async () => {
      if (queue.closed()) return;
      queue.close();
      folding.end();
      await log.close();
      try {
        // Closing folds the log into the database; what cannot be folded stays in the log and is read at the next start.
        db.close();
      } catch (thrown) {
        throw fromSqlite(thrown, "closing the store");
      }
    },
  };
}

/** A tail that no longer reads is a broken database like any other. */
function openWriter(db: DatabaseSync, path: string) {
  try {
    return createBatchWriter(db);
  } catch (thrown) {
    db.close();
    throw fromSqlite(thrown, `opening ${path}`);
  }
}

/** Numbers begin at 1. */
const NO_SESSION = 0;

type BlobColumns = { readonly owner: string; readonly bytes: number; readonly mediaType: string; readonly at: string };

function hasContext({ context, drops }: TailSession): boolean {
  return context.size > 0 || drops.size > 0;
}

function hasJournal({ journal }: TailSession): boolean {
  return journal.size > 0;
}
