import type { AgenticPlan, ErgonError, Logger } from "@ergon/core";
import { createCommitQueue, refuse, type StateStore } from "@ergon/core/store-kit";
import { createBatchWriter } from "./batch-writer.ts";
import { openOwnedDatabase } from "../database/owned-database.ts";
import { readJournal, readJournalRow } from "./read-journal.ts";
import { readEnergy } from "./read-energy.ts";
import { readRun } from "./read-runs.ts";
import { readEvents } from "./read-events.ts";
import { listSessions, readContext, readScopes, readSession } from "./read-sessions.ts";
import type { StorePlace } from "../stores/small-store.ts";

export type SqliteStoreOptions = StorePlace & { readonly logger?: Logger | undefined };

export type SqliteStateStore = StateStore & {
  /** Reads the whole file and names what is damaged; nothing, when it is sound. Slow: for `doctor`, not for opening. */
  readonly verify: () => Promise<readonly string[]>;
  /** What is wrong with the store now: damage, no room, a lost folder. */
  readonly health: () => ErgonError | undefined;
};

/** The default store. Throws `store_unavailable`, `store_corrupt` or `store_newer`; no commit is lost by it. */
export function openSqliteStateStore(options: SqliteStoreOptions): SqliteStateStore {
  const database = "database" in options ? options.database : openOwnedDatabase(options);
  const writer = createBatchWriter(database);
  const { numberOf } = writer;
  const queue = createCommitQueue({
    apply: writer.apply,
    sync: database.sync,
    atTurnEnd: (flush) => void setImmediate(flush),
    logger: options.logger,
  });

  async function reading<T>(what: string, read: () => T | Promise<T>): Promise<T> {
    if (queue.closed()) throw refuse.closed();
    return database.read(`reading ${what}`, read);
  }

  return {
    commit: queue.commit,
    sync: database.sync,
    watch: queue.watch,
    readSession: (sessionId) => reading("a session", () => readSession(database, sessionId)),
    listSessions: (query) => reading("sessions", () => listSessions(database, query)),
    readRun: (run) => reading("a run's id", () => readRun(database, run)),
    readPlan: (hash) =>
      reading("a plan", () => {
        const [row] = database.all<{ readonly plan: string }>("SELECT plan FROM plans WHERE hash = ?", hash);
        return row === undefined ? undefined : (JSON.parse(row.plan) as AgenticPlan);
      }),
    readContext: (sessionId, scopes) =>
      reading("context", () => readContext(database, numberOf(sessionId) ?? NO_SESSION, scopes)),
    readScopes: (query) =>
      reading("context", () => readScopes(database, numberOf(query.sessionId) ?? NO_SESSION, query)),
    readJournal: (query) =>
      reading("the journal", () => readJournal(database, numberOf(query.sessionId) ?? NO_SESSION, query)),
    readJournalRow: (sessionId, position) =>
      reading("the journal", () => readJournalRow(database, numberOf(sessionId) ?? NO_SESSION, position)),
    readEvents: (query) =>
      reading("events", () => {
        const n = query.sessionId === undefined ? undefined : (numberOf(query.sessionId) ?? NO_SESSION);
        return readEvents(database, n, { ...query, lastSeq: writer.lastSeq() });
      }),
    lastEventSeq: () => reading("events", writer.lastSeq),
    readCursor: (name) =>
      reading(
        "a cursor",
        () => database.all<{ readonly seq: number }>("SELECT seq FROM cursors WHERE name = ?", name)[0]?.seq ?? 0,
      ),
    readEnergy: ({ sessionId, owner }) =>
      reading("energy", () =>
        readEnergy(database, {
          ...(sessionId === undefined ? {} : { n: numberOf(sessionId) ?? NO_SESSION }),
          ...(owner === undefined ? {} : { owner }),
        }),
      ),
    readBlobRow: (id, owner) =>
      reading("a blob's row", () => {
        const select = "SELECT owner, bytes, media_type AS mediaType, at FROM blobs WHERE id = ?";
        const [row] =
          owner === undefined
            ? database.all<BlobColumns>(`${select} LIMIT 1`, id)
            : database.all<BlobColumns>(`${select} AND owner = ?`, id, owner);
        if (row === undefined) return undefined;
        return { ref: { $blob: id, bytes: row.bytes, mediaType: row.mediaType }, at: row.at, owner: row.owner };
      }),
    verify: () => reading("the whole database", database.verify),
    health: database.health,
    close: async () => {
      if (queue.closed()) return;
      queue.close();
      if (!("database" in options)) await database.close();
    },
  };
}

/** Numbers begin at 1. */
const NO_SESSION = 0;

type BlobColumns = { readonly owner: string; readonly bytes: number; readonly mediaType: string; readonly at: string };
