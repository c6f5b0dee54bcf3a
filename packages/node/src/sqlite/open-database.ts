import { DatabaseSync } from "node:sqlite";
import { storeError } from "@ergon/core";
import { first } from "./migrations/0001-first.ts";
import { fromSqlite } from "./sqlite-errors.ts";

/** "Ergn" in the file's header: says whose database this is. */
export const APPLICATION_ID = 0x4572676e;

/** The log is folded into the database past this many pages of 4 KiB, and cut when it grew beyond its bound. */
export const CHECKPOINT_PAGES = 2_048;
export const MAX_WAL_BYTES = 64 * 1024 * 1024;
const CACHE_KIB = 32 * 1024;

/** In order; a version, once published, is never changed. */
const MIGRATIONS = [first];
export const SCHEMA_VERSION = MIGRATIONS.length;

export type DatabaseOptions = {
  /** A file, or ":memory:". */
  readonly path: string;
  readonly checkpointPages?: number;
};

/**
 * Opens a database for this process alone and brings its schema up to date. A file that is not ours is left as it is:
 * `store_corrupt`, or `store_newer` when a later Ergon wrote it.
 */
export function openDatabase(options: DatabaseOptions): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(options.path);
    // One process owns a data folder; without a shared index there is also nothing shared to go wrong.
    db.exec("PRAGMA locking_mode = EXCLUSIVE");
    checkIdentity(db, options.path);
    db.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA wal_autocheckpoint = ${String(options.checkpointPages ?? CHECKPOINT_PAGES)};
      PRAGMA journal_size_limit = ${String(MAX_WAL_BYTES)};
      PRAGMA cache_size = -${String(CACHE_KIB)};
      PRAGMA temp_store = MEMORY;
    `);
    migrate(db);
    return db;
  } catch (thrown) {
    if (db?.isOpen === true) db.close();
    throw fromSqlite(thrown, `opening ${options.path}`);
  }
}

function checkIdentity(db: DatabaseSync, path: string): void {
  const application = pragma(db, "application_id");
  const version = pragma(db, "user_version");
  const tables = Number(db.prepare("SELECT count(*) AS tables FROM sqlite_schema").get()?.["tables"]);
  if (application === 0 && version === 0 && tables === 0) return;
  if (application !== APPLICATION_ID) {
    throw storeError(
      "store_corrupt",
      `${path} is a database of something else than Ergon. It was left as it is; name another data folder.`,
    );
  }
  if (version > SCHEMA_VERSION) {
    throw storeError(
      "store_newer",
      `${path} has schema ${String(version)}; this Ergon knows up to ${String(SCHEMA_VERSION)}. It was left as it is; use the newer Ergon that wrote it.`,
      { details: { found: version, known: SCHEMA_VERSION } },
    );
  }
}

/** Each migration is one transaction: a process that dies in it leaves the version before. */
function migrate(db: DatabaseSync): void {
  const found = pragma(db, "user_version");
  for (const { version, sql } of MIGRATIONS) {
    if (version <= found) continue;
    db.exec(`BEGIN IMMEDIATE; ${sql}
      PRAGMA application_id = ${String(APPLICATION_ID)};
      PRAGMA user_version = ${String(version)};
      COMMIT;`);
  }
}

function pragma(db: DatabaseSync, name: "application_id" | "user_version"): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
}
