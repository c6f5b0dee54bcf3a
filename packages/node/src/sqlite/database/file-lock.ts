import { DatabaseSync } from "node:sqlite";
import { fromSqlite, isBusy } from "./sqlite-errors.ts";

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
    if (error.retryable && isBusy(error)) return undefined;
    throw error;
  }
  const held = db;
  return () => held.close();
}
