import { chmodSync, closeSync, openSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { storeError } from "@ergon/core/schema";
import { checkOwnDatabase, PRIVATE_FILE_MODE } from "../../ownership/own-file.ts";
import { fromSqlite } from "./sqlite-errors.ts";

/** The WAL is checkpointed past this many pages of 4 KiB, and cut when it grew beyond its bound. */
export const CHECKPOINT_PAGES = 2_048;
export const MAX_WAL_BYTES = 64 * 1024 * 1024;
const CACHE_KIB = 32 * 1024;
/** Another connection (a person with `sqlite3`, an older owner) is waited for so long. The process stands still meanwhile. */
const BUSY_MS = 1_000;

export const MEMORY = ":memory:";

/** What a database holds: its mark, and how its tables came to be. */
export type DatabaseSchema = {
  readonly applicationId: number;
  /** In order; a version, once published, is never changed. */
  readonly migrations: readonly { readonly version: number; readonly sql: string }[];
};

export type DatabaseOptions = {
  /** A file, or ":memory:". */
  readonly path: string;
  readonly checkpointPages?: number | undefined;
  readonly schema: DatabaseSchema;
};

/**
 * Opens a database in WAL mode and brings its schema up to date. A file that is not ours is left as it is: `store_corrupt`,
 * or `store_newer` when a later Ergon wrote it.
 */
export function openDatabase({ path, checkpointPages = CHECKPOINT_PAGES, schema }: DatabaseOptions): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    if (path !== MEMORY) makePrivate(path);
    db = new DatabaseSync(path, { timeout: BUSY_MS });
    checkIdentity(db, path, schema);
    db.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA wal_autocheckpoint = ${String(checkpointPages)};
      PRAGMA journal_size_limit = ${String(MAX_WAL_BYTES)};
      PRAGMA cache_size = -${String(CACHE_KIB)};
      PRAGMA temp_store = MEMORY;
    `);
    migrate(db, schema);
    return db;
  } catch (thrown) {
    if (db?.isOpen === true) db.close();
    throw fromSqlite(thrown, `opening ${path}`);
  }
}

/** Sessions hold what people said and what tools gave. The WAL gets the mode of the database. */
function makePrivate(path: string): void {
  checkOwnDatabase(path);
  checkNotEmptied(path);
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  // Never opened when it is there: closing it again would drop the locks that SQLite holds on it in this process.
  if (mode === undefined) closeSync(openSync(path, "wx", PRIVATE_FILE_MODE));
  else if ((mode & 0o077) !== 0) chmodSync(path, PRIVATE_FILE_MODE);
}

/** SQLite deletes the WAL of an empty database without a word, also when it was asked to read only. */
export function checkNotEmptied(path: string): void {
  const bytesOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (bytesOf(path) > 0 || bytesOf(`${path}-wal`) === 0) return;
  throw storeError(
    "store_corrupt",
    `${path} is missing or empty, but its WAL is there. Restore the data folder from a copy.`,
  );
}

function checkIdentity(db: DatabaseSync, path: string, schema: DatabaseSchema): void {
  const { application, version, tables } = identityOf(db);
  if (application === 0 && version === 0 && tables === 0) return;
  if (application !== schema.applicationId) {
    throw storeError(
      "store_corrupt",
      `${path} is a database of something else than Ergon. It was left as it is; name another data folder.`,
    );
  }
  const known = schema.migrations.at(-1)?.version ?? 0;
  if (version > known) {
    throw storeError(
      "store_newer",
      `${path} has schema ${String(version)}; this Ergon knows up to ${String(known)}. It was left as it is; use the newer Ergon that wrote it.`,
      { details: { found: version, known } },
    );
  }
}

export function identityOf(db: DatabaseSync): {
  readonly application: number;
  readonly version: number;
  readonly tables: number;
} {
  return {
    application: pragma(db, "application_id"),
    version: pragma(db, "user_version"),
    tables: Number(db.prepare("SELECT count(*) AS tables FROM sqlite_schema").get()?.["tables"]),
  };
}

/** Each migration is one transaction: a process that dies in it leaves the version before. */
function migrate(db: DatabaseSync, { applicationId, migrations }: DatabaseSchema): void {
  for (const { version, sql } of migrations) {
    if (pragma(db, "user_version") >= version) continue;
    inTransaction(db, () => {
      // Another process may have done it while this one waited for the lock.
      if (pragma(db, "user_version") >= version) return;
      db.exec(`${sql}
        PRAGMA application_id = ${String(applicationId)};
        PRAGMA user_version = ${String(version)};`);
    });
  }
}

/** Some errors make SQLite end the transaction itself. */
export function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  try {
    db.exec("BEGIN IMMEDIATE");
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (thrown) {
    // Without its commit mark in the WAL, a transaction is void however this ends.
    if (db.isOpen && db.isTransaction) db.exec("ROLLBACK");
    throw thrown;
  }
}

function pragma(db: DatabaseSync, name: "application_id" | "user_version"): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
}
