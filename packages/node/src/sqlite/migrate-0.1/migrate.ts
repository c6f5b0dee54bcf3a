import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Logger } from "@ergon/core";
import { storeError } from "@ergon/core/schema";
import { checkOwnDatabase, checkOwnFile } from "../../ownership/own-file.ts";
import { syncPath } from "../../blobs/sync-path.ts";
import { freeName } from "../database/free-name.ts";
import { identityOf, inTransaction } from "../database/open-database.ts";
import { APPLICATION_ID, FIRST_PLAIN_VERSION, SCHEMA_VERSION, STATE_SCHEMA } from "../database/schema.ts";
import { importState } from "./import-state.ts";
import { importStores, STORE_FILES } from "./import-stores.ts";
import { logFilesOf } from "./old-log.ts";

/*
 * Turns a data folder of Ergon 0.1 into one of this version, once, at the first opening by an owner.
 *
 * M1  The old files are copied beside the database first; the copy has its name only when it is whole and on the disk.
 * M2  Everything is taken over in one transaction of state.db: a process that dies leaves the folder as it was, or done.
 * M3  Old files are removed only after that transaction is on the disk, and only those that the copy has.
 * M4  What cannot be taken over is refused, or stays in the copy, is counted and said.
 */
export function migrateFrom01(path: string, logger: Logger | undefined): void {
  const version = versionOf(path);
  const old = oldFilesOf(path);
  if (version >= FIRST_PLAIN_VERSION) return void (old.length > 0 && removeCopied(path, old));
  if (version === 0 && old.length === 0) return;
  if (version === 0 && logFilesOf(path).some((file) => existsSync(file)))
    throw storeError(
      "store_corrupt",
      `${path} is missing or empty, but its log is there. Restore the data folder from a copy.`,
    );
  for (const file of [...old, path]) checkOwnFile(file);
  const copy = copyFiles(path, old);
  const db = new DatabaseSync(path);
  try {
    db.exec(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY",
    );
    const discarded = takeOver(db, path, { version, copy });
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    if (discarded > 0)
      logger?.warn(
        { path, discarded, copy },
        "The log of Ergon 0.1 was damaged: records behind the damage were discarded. They are kept in the copy.",
      );
    logger?.info({ path, copy }, "The data folder was brought to this version; the old files are kept in the copy.");
  } finally {
    db.close();
  }
  removeCopied(path, old);
}

/** One transaction, which reads the other databases and writes this one. Gives how many records were discarded. */
function takeOver(
  db: DatabaseSync,
  path: string,
  { version, copy }: { readonly version: number; readonly copy: string },
): number {
  const detach = importStores.attach(db, dirname(path), isDataFolder(path));
  try {
    return inTransaction(db, () => {
      const before = version === 0 ? [] : tablesOf(db);
      for (const table of before) db.exec(`ALTER TABLE "${table}" RENAME TO "old_${table}"`);
      for (const { name } of db
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
        .all())
        db.exec(`DROP INDEX "${String(name)}"`);
      for (const { sql } of STATE_SCHEMA.migrations) db.exec(sql);
      const discarded = version === 0 ? 0 : importState(db, path, version);
      importStores.copy(db);
      for (const table of before) db.exec(`DROP TABLE "old_${table}"`);
      const note = db.prepare("INSERT INTO migrated (from_version, copy, discarded_records) VALUES (?, ?, ?)");
      note.run(version, basename(copy), discarded);
      db.exec(`PRAGMA application_id = ${String(APPLICATION_ID)};
        PRAGMA user_version = ${String(SCHEMA_VERSION)}`);
      return discarded;
    });
  } finally {
    detach();
  }
}

function tablesOf(db: DatabaseSync): string[] {
  return db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all()
    .map(({ name }) => String(name));
}

/** 0: there is none yet. Reading changes neither the database nor its WAL. */
function versionOf(path: string): number {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return 0;
  checkOwnDatabase(path);
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const { application, version } = identityOf(db);
    // Whose it is otherwise, `openDatabase` says.
    return application === APPLICATION_ID ? version : FIRST_PLAIN_VERSION;
  } finally {
    db.close();
  }
}

function isDataFolder(path: string): boolean {
  return basename(path) === "state.db";
}

/** What this version no longer has, beside the database itself. */
function oldFilesOf(path: string): string[] {
  const stores = isDataFolder(path)
    ? STORE_FILES.flatMap((name) => [name, `${name}-wal`].map((file) => join(dirname(path), file)))
    : [];
  return [...logFilesOf(path), ...stores].filter((file) => existsSync(file));
}

/** Gives the folder of the copy. */
function copyFiles(path: string, old: readonly string[]): string {
  const copy = freeName(join(dirname(path), "before-0.2"));
  const partial = `${copy}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { mode: 0o700 });
  for (const file of [path, `${path}-wal`, ...old]) {
    // Looking at the version leaves an empty WAL.
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) continue;
    const target = join(partial, basename(file));
    copyFileSync(file, target);
    syncPath(target);
  }
  syncPath(partial);
  renameSync(partial, copy);
  syncPath(dirname(copy));
  return copy;
}

function removeCopied(path: string, old: readonly string[]): void {
  const db = new DatabaseSync(path, { readOnly: true });
  let copies: string[];
  try {
    copies = db
      .prepare("SELECT copy FROM migrated")
      .all()
      .map(({ copy }) => join(dirname(path), String(copy)));
  } finally {
    db.close();
  }
  for (const file of old)
    if (copies.some((copy) => existsSync(join(copy, basename(file))))) {
      rmSync(file, { force: true });
      rmSync(`${file}-shm`, { force: true });
    }
}
