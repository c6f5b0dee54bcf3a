import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { toErgonError } from "@ergon/core";
import { APPLICATION_ID, SCHEMA_VERSION } from "../sqlite/database/schema.ts";
import { fromSqlite } from "../sqlite/database/sqlite-errors.ts";
import { isHeld } from "./hold-folder.ts";
import { isAlive, readServerFile } from "./server-file.ts";

export type FolderInspection = {
  readonly state: "absent" | "free" | "owned";
  readonly owner?: { readonly pid?: number; readonly url?: string };
  /** Of the state database, when there is one and nobody holds it. */
  readonly schemaVersion?: number;
  readonly problem?: string;
};

/** Looks at a data folder from outside, for `doctor`. It claims nothing and writes nothing. */
export async function inspectFolder(dataDir: string, databaseName: string): Promise<FolderInspection> {
  if (!existsSync(dataDir)) return { state: "absent" };
  try {
    if ((await isHeld(dataDir)) || isLocked(join(dataDir, "owner.db"))) {
      const named = readServerFile(join(dataDir, "server.json"));
      if (named === undefined || !isAlive(named.pid)) return { state: "owned" };
      const { nonce: _own, ...owner } = named;
      return { state: "owned", owner };
    }
    return { state: "free", ...inspectDatabase(join(dataDir, databaseName)) };
  } catch (thrown) {
    return { state: "free", problem: toErgonError(thrown, "store_unavailable").message };
  }
}

/** Reading is enough to find out: nobody may read while another holds the lock. */
function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true });
    db.exec("SELECT count(*) FROM sqlite_schema");
    return false;
  } catch (thrown) {
    const error = fromSqlite(thrown, `looking at ${path}`);
    if (error.retryable) return true;
    throw error;
  } finally {
    db?.close();
  }
}

/**
 * From the file's header, because SQLite itself would write beside it. A process that was killed may have left the
 * header's newest form in its log; then the version is not known until the next start.
 */
function inspectDatabase(path: string): Pick<FolderInspection, "schemaVersion" | "problem"> {
  const header = readHeader(path);
  if (header === undefined || header.length === 0) return {};
  if (header.length < HEADER_BYTES || !header.toString("latin1").startsWith("SQLite format 3\0")) {
    return { problem: `${path} is not a database.` };
  }
  const schemaVersion = header.readUInt32BE(60);
  const application = header.readUInt32BE(68);
  const isEmpty = header.readUInt32BE(28) <= 1;
  if (schemaVersion === 0 && application === 0 && (isEmpty || existsSync(`${path}-wal`))) return {};
  if (application !== APPLICATION_ID) return { problem: `${path} is a database of something else than Ergon.` };
  if (schemaVersion <= SCHEMA_VERSION) return { schemaVersion };
  return { schemaVersion, problem: `${path} has schema ${schemaVersion}; this Ergon knows up to ${SCHEMA_VERSION}.` };
}

const HEADER_BYTES = 100;

function readHeader(path: string): Buffer | undefined {
  if (!existsSync(path)) return undefined;
  const file = openSync(path, "r");
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    return header.subarray(0, readSync(file, header, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(file);
  }
}
