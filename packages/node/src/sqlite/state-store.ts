import { type AgenticPlan, createCommitQueue, refuse, type StateStore, storeError } from "@ergon/core";
import { type BatchWriter, createBatchWriter } from "./batch-writer.ts";
import { MEMORY, openTables, type TablesOptions } from "./open-tables.ts";
import { readJournal, readJournalRow } from "./read-journal.ts";
import { readEnergy } from "./read-energy.ts";
import { readEvents } from "./read-events.ts";
import { listSessions, readContext, readScopes, readSession } from "./read-sessions.ts";
import { createReader } from "./reader.ts";
import { MAX_KNOWN_SESSIONS } from "./session-directory.ts";
import { type CommitLog, createMemoryLog, openCommitLog } from "./commit-log.ts";
import { createFolding } from "./folding.ts";
import { createWalSync } from "./wal-sync.ts";
import { fromSqlite } from "./sqlite-errors.ts";
import type { Tail } from "./tail.ts";
import type { TailSession } from "./tail-session.ts";

/** With `foldModule`, a store that is written without a pause puts its commits into their tables on another thread. */
export type SqliteStoreOptions = TablesOptions;

export type SqliteStateStore = StateStore & {
  /** Reads the whole file and names what is damaged; nothing, when it is sound. Slow: for `doctor`, not for opening. */
  readonly verify: () => Promise<readonly string[]>;
};

/** The default store. Throws `store_unavailable`, `store_corrupt` or `store_newer`; no commit is lost by it. */
export function openSqliteStateStore(options: SqliteStoreOptions): SqliteStateStore {
  const { path, logger } = options;
  const { db, thread, release } = openTables(options);
  const reader = createReader(db);
  const wal = createWalSync(path);
  const { log, writer } = openWriter();
  let isWalTrusted = true;
  // A session keeps its number for ever.
  const numbers = new Map<string, number>();
  const folding = createFolding(writer, thread, logger);
  const queue = createCommitQueue({
    apply: (batch) => {
      const outcome = writer.apply(batch);
      folding.grew();
      return outcome;
    },
    sync: log.sync,
    atTurnEnd: (flush) => void setImmediate(flush),
    logger: options.logger,
  });

  /** A log or a tail that no longer reads is a broken database like any other. */
  function openWriter(): { readonly log: CommitLog; readonly writer: BatchWriter } {
    try {
      const opened = openLog();
      return { log: opened, writer: createBatchWriter(db, opened, options.maxTailCommits) };
    } catch (thrown) {
      wal.close();
      db.close();
      release();
      throw fromSqlite(thrown, `opening ${path}`);
    }
  }

  function openLog(): CommitLog {
    if (path === MEMORY) return createMemoryLog();
    const [found] = reader.all<{ readonly store_id: Uint8Array; readonly folded: number }>(
      "SELECT store_id, folded FROM log",
    );
    if (found === undefined) throw storeError("store_corrupt", `${path} does not say whose log it has.`);
    return openCommitLog({
      path,
      storeId: found.store_id,
      folded: found.folded,
      syncTables,
      syncTablesNow: wal.syncNow,
      isDiskBusy: () => thread?.isSyncing() === true,
      rescue,
      logger,
    });
  }

  /** What did not sync once may seem to the next time, and is not on the disk: then only the database itself can be trusted. */
  async function syncTables(): Promise<void> {
    if (isWalTrusted) {
      isWalTrusted = false;
      await wal.sync();
    } else {
      moveToDatabase();
    }
    isWalTrusted = true;
  }

  async function rescue(cause: Error): Promise<void> {
    try {
      await folding.whole();
      moveToDatabase();
    } catch (thrown) {
      logger?.error({ error: cause }, "The log of commits did not sync.");
      throw fromSqlite(thrown, "syncing the store to the disk");
    }
  }

  /** Has SQLite move its own log into the database and sync that; throws when it cannot. */
  function moveToDatabase(): void {
    const [answer] = reader.all<{ readonly busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)");
    if (answer?.busy !== 0) throw storeError("store_unavailable", `${path} is busy; try again.`, { retryable: true });
  }

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
  async function foldedNumber(sessionId: string, isConcerned: (session: TailSession) => boolean): Promise<number> {
    const parts = tails().map(({ sessions }) => sessions.get(sessionId));
    if (parts.some((inTail) => inTail !== undefined && isConcerned(inTail))) await folding.whole();
    return numberOf(sessionId) ?? NO_SESSION;
  }

  /** What the tables may not have yet, newest first. */
  function tails(): readonly Tail[] {
    const tail = writer.tail();
    const away = tail.away();
    return away === undefined ? [tail.now()] : [tail.now(), away];
  }

  /** The newest that any of them has. */
  function inTail<T>(find: (tail: Tail) => T | undefined): T | undefined {
    const [now, away] = tails();
    return (now === undefined ? undefined : find(now)) ?? (away === undefined ? undefined : find(away));
  }

  return {
    commit: queue.commit,
    sync: log.sync,
    watch: queue.watch,
    changes: queue.changes,
    readSession: (sessionId) =>
      reading("a session", () => {
        const found = writer.tail().find(sessionId);
        if (found === undefined) return undefined;
        return readSession(reader, sessionId, "base" in found ? found : undefined);
      }),
    listSessions: (query) =>
      reading("sessions", async () => {
        if (tails().some(({ sessions }) => sessions.size > 0)) await folding.whole();
        return listSessions(reader, query);
      }),
    readPlan: (hash) =>
      reading("a plan", () => {
        const [row] = reader.all<{ readonly plan: string }>("SELECT plan FROM plans WHERE hash = ?", hash);
        const { plan } = row ?? inTail(({ plans }) => plans.get(hash)) ?? {};
        return plan === undefined ? undefined : (JSON.parse(plan) as AgenticPlan);
      }),
    readContext: (sessionId, scopes) =>
      reading("context", async () => readContext(reader, await foldedNumber(sessionId, hasContext), scopes)),
    readScopes: (query) =>
      reading("context", async () => readScopes(reader, await foldedNumber(query.sessionId, hasContext), query)),
    readJournal: (query) =>
      reading("the journal", async () => readJournal(reader, await foldedNumber(query.sessionId, hasJournal), query)),
    readJournalRow: (sessionId, ord) =>
      reading("the journal", () => {
        const entry = writer.tail().entry(sessionId, ord);
        const n = entry?.intent === undefined ? numberOf(sessionId) : undefined;
        return readJournalRow(reader, n, { sessionId, ord }, entry);
      }),
    readEvents: (query) =>
      reading("events", () => {
        const n = query.sessionId === undefined ? undefined : numberOf(query.sessionId);
        return readEvents(reader, writer.tail, n, query);
      }),
    lastEventSeq: () => reading("events", () => writer.tail().now().lastSeq),
    readCursor: (name) =>
      reading("a cursor", () => {
        const moved = inTail(({ cursors }) => cursors.get(name));
        if (moved !== undefined) return moved.seq;
        return reader.all<{ readonly seq: number }>("SELECT seq FROM cursors WHERE name = ?", name)[0]?.seq ?? 0;
      }),
    readEnergy: ({ sessionId, owner }) =>
      reading("energy", async () => {
        await folding.whole();
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
          stored ??
          inTail(({ blobs }) => blobs.find((blob) => blob.id === id && (owner === undefined || owner === blob.owner)));
        if (row === undefined) return undefined;
        return { ref: { $blob: id, bytes: row.bytes, mediaType: row.mediaType }, at: row.at, owner: row.owner };
      }),
    verify: () =>
      reading("the whole database", async () => {
        await folding.whole();
        const rows = reader.all<{ readonly integrity_check: string }>("PRAGMA integrity_check(20)");
        return rows.map((row) => row.integrity_check).filter((line) => line !== "ok");
      }),
    close: async () => {
      if (queue.closed()) return;
      queue.close();
      await folding.end();
      await log.close();
      try {
        let isFolded = false;
        try {
          isFolded = tails().every(({ commits }) => commits === 0);
          wal.syncNow();
        } finally {
          // Closing moves SQLite's own log into the database; what cannot be moved stays there and is read at the next start.
          db.close();
        }
        if (isFolded) log.remove();
      } catch (thrown) {
        throw fromSqlite(thrown, "closing the store");
      } finally {
        wal.close();
        release();
      }
    },
  };
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
