import { chmodSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { storeError } from "@ergon/core";
import { first } from "./migrations/0001-first.ts";
import { log } from "./migrations/0002-log.ts";
import { fromSqlite } from "./sqlite-errors.ts";

/** "Ergn" in the file's header: says whose database this is. */
export const APPLICATION_ID = 0x4572676e;

/** The log is folded into the database past this many pages of 4 KiB, and cut when it grew beyond its bound. */
export const CHECKPOINT_PAGES = 2_048;
export const MAX_WAL_BYTES = 64 * 1024 * 1024;
/** Sessions hold what people said and what tools gave: nobody else's to read. */
const PRIVATE_MODE = 0o600;
const CACHE_KIB = 32 * 1024;

/** What a database holds: its mark, and how its tables came to be. */
export type DatabaseSchema = {
  readonly applicationId: number;
  /** In order; a version, once published, is never changed. */
  readonly migrations: readonly { readonly version: number; readonly sql: string }[];
};

const STATE_SCHEMA: DatabaseSchema = { applicationId: APPLICATION_ID, migrations: [first, log] };
export const SCHEMA_VERSION = STATE_SCHEMA.migrations.length;

export type DatabaseOptions = {
  /** A file, or ":memory:". */
  readonly path: string;
  readonly checkpointPages?: number;
  readonly schema?: DatabaseSchema;
  /** Other threads of this process open it, too; a lock elsewhere keeps other processes out. */
  readonly isShared?: boolean;
  /** So long it waits for another that writes; else it is refused at once. */
  readonly waitMs?: number;
};

/**
 * Opens a database for this process alone, as long as it is not to be shared, and brings its schema up to date. A file that is not ours is left as it is:
 * `store_corrupt`, or `store_newer` when a later Ergon wrote it.
 */
export function openDatabase(options: DatabaseOptions): DatabaseSync {
  const schema = options.schema ?? STATE_SCHEMA;
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(options.path, { timeout: options.waitMs ?? 0 });
    // One process owns a data folder; without a shared index there is also nothing shared to go wrong.
    if (options.isShared !== true) db.exec("PRAGMA locking_mode = EXCLUSIVE");
    checkIdentity(db, options.path, schema);
    closeToOthers(options.path);
    db.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA wal_autocheckpoint = ${String(options.checkpointPages ?? CHECKPOINT_PAGES)};
      PRAGMA journal_size_limit = ${String(MAX_WAL_BYTES)};
      PRAGMA cache_size = -${String(CACHE_KIB)};
      PRAGMA temp_store = MEMORY;
    `);
    migrate(db, schema);
    return db;
  } catch (thrown) {
    if (db?.isOpen === true) db.close();
    throw fromSqlite(thrown, `opening ${options.path}`);
  }
}

/** Before anything is written: the log that lies beside the database gets the database's own mode. */
function closeToOthers(path: string): void {
  const mode = path === ":memory:" ? undefined : statSync(path, { throwIfNoEntry: false })?.mode;
  if (mode !== undefined && (mode & 0o077) !== 0) chmodSync(path, PRIVATE_MODE);
}

function checkIdentity(db: DatabaseSync, path: string, { applicationId, migrations }: DatabaseSchema): void {
  const application = pragma(db, "application_id");
  const version = pragma(db, "user_version");
  const tables = Number(db.prepare("SELECT count(*) AS tables FROM sqlite_schema").get()?.["tables"]);
  if (application === 0 && version === 0 && tables === 0) return;
  if (application !== applicationId) {
    throw storeError(
      "store_corrupt",
      `${path} is a database of something else than Ergon. It was left as it is; name another data folder.`,
    );
  }
  if (version > migrations.length) {
    throw storeError(
      "store_newer",
      `${path} has schema ${String(version)}; this Ergon knows up to ${String(migrations.length)}. It was left as it is; use the newer Ergon that wrote it.`,
      { details: { found: version, known: migrations.length } },
    );
  }
}

/** Each migration is one transaction: a process that dies in it leaves the version before. */
function migrate(db: DatabaseSync, { applicationId, migrations }: DatabaseSchema): void {
  const found = pragma(db, "user_version");
  for (const { version, sql } of migrations) {
    if (version <= found) continue;
    db.exec(`BEGIN IMMEDIATE; ${sql}
      PRAGMA application_id = ${String(applicationId)};
      PRAGMA user_version = ${String(version)};
      COMMIT;`);
  }
}

function pragma(db: DatabaseSync, name: "application_id" | "user_version"): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
}
