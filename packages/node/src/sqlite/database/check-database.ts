import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { checkOwnDatabase } from "../../ownership/own-file.ts";
import { checkNotEmptied, identityOf, MEMORY, openDatabase } from "./open-database.ts";
import { APPLICATION_ID, SCHEMA_VERSION, STATE_SCHEMA } from "./schema.ts";
import { fromSqlite, isCorruption, RESTORE } from "./sqlite-errors.ts";
import { discardedBy, keptWals } from "./wal-damage.ts";

/** SQLite names at most so many faults. */
const MAX_FAULTS = 10;

/**
 * Reads a whole state database, for `doctor`, and says what is wrong with it. It claims and changes nothing, so it may look
 * at a folder whose owner runs; what a start would discard is known only when none does.
 */
export function checkDatabase(path: string, { isFree }: { readonly isFree: boolean }): readonly string[] {
  if (!existsSync(dirname(path))) return [];
  return [...faultsIn(path), ...(isFree ? damagedWal(path) : []), ...keptWals(path)];
}

function faultsIn(path: string): readonly string[] {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0 && !hasWal(path)) return [];
  let db: DatabaseSync | undefined;
  try {
    checkOwnDatabase(path);
    checkNotEmptied(path);
    db = openToRead(path);
    const faults = db.prepare(`PRAGMA integrity_check(${String(MAX_FAULTS)})`).all();
    const damaged = faults.map((row) => String(row["integrity_check"])).filter((line) => line !== "ok");
    if (damaged.length > 0) return [`${path} is damaged: ${damaged.join("; ")}. ${RESTORE}`];
    const { application, version } = identityOf(db);
    if (application !== APPLICATION_ID || version !== SCHEMA_VERSION) return [];
    return [...missingFrom(db, path), ...discardedFrom(db, path)];
  } catch (thrown) {
    const error = fromSqlite(thrown, `checking ${path}`);
    return [isCorruption(error) ? `${path} is damaged. ${error.message}` : error.message];
  } finally {
    if (db?.isOpen === true) db.close();
  }
}

/** Where no process has left a WAL, nothing is made beside the file either. */
function openToRead(path: string): DatabaseSync {
  const url = pathToFileURL(path);
  if (!hasWal(path)) url.searchParams.set("immutable", "1");
  return new DatabaseSync(url, { readOnly: true });
}

function hasWal(path: string): boolean {
  return statSync(`${path}-wal`, { throwIfNoEntry: false }) !== undefined;
}

function missingFrom(db: DatabaseSync, path: string): readonly string[] {
  const sound = openDatabase({ path: MEMORY, schema: STATE_SCHEMA });
  const names = (of: DatabaseSync): string[] =>
    of
      .prepare("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")
      .all()
      .map((row) => String(row["name"]));
  const found = new Set(names(db));
  const missing = names(sound).filter((name) => !found.has(name));
  sound.close();
  return missing.length === 0 ? [] : [`${path} lacks ${missing.join(", ")}. ${RESTORE}`];
}

function damagedWal(path: string): readonly string[] {
  const count = discardedBy(path);
  if (count === 0) return [];
  const transactions = `${String(count)} ${count === 1 ? "transaction" : "transactions"}`;
  return [
    `${path}-wal is damaged: ${transactions} behind the damage will be discarded at the next start. ${RESTORE} Else start Ergon: it keeps the damaged file.`,
  ];
}

function discardedFrom(db: DatabaseSync, path: string): readonly string[] {
  return db
    .prepare("SELECT copy, discarded_records AS count FROM migrated WHERE discarded_records > 0")
    .all()
    .map(({ copy, count }) => {
      const records = `${String(count)} ${count === 1 ? "record" : "records"}`;
      return `${path}: ${records} of the log of Ergon 0.1 lay behind damage and were discarded. They are kept in ${String(copy)}.`;
    });
}
