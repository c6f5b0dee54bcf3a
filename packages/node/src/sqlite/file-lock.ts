import { DatabaseSync } from "node:sqlite";
import { isErgonError } from "@ergon/core";
import { fromSqlite } from "./sqlite-errors.ts";

/**
 * Takes the lock that this file stands for, or gives undefined when another has it. The file stays empty: an exclusive
 * transaction is held open on it. Nothing else may open the file in this process, because closing it would free the lock.
 */
export function lockFile(path: string): (() => void) | undefined {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path);
    db.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  } catch (thrown) {
    if (db?.isOpen === true) db.close();
    const error = fromSqlite(thrown, `locking ${path}`);
    if (isErgonError(error) && error.retryable && isBusy(error.details)) return undefined;
    throw error;
  }
  const held = db;
  return () => held.close();
}

function isBusy(details: Readonly<Record<string, unknown>> | undefined): boolean {
  return details?.["sqliteCode"] === SQLITE_BUSY;
}

const SQLITE_BUSY = 5;
