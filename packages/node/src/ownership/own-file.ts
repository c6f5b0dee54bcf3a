import { lstatSync } from "node:fs";
import { storeError } from "@ergon/core";
import { fromFileSystem } from "../blobs/file-errors.ts";

/** Only this user reads and writes a file of the data folder. */
export const PRIVATE_FILE_MODE = 0o600;

/**
 * Throws `store_unavailable` unless the path is absent or a regular file of this user with one name. A link planted in a
 * data folder would otherwise make Ergon write to a file outside of it.
 */
export function checkOwnFile(path: string): void {
  const problem = problemWith(path);
  if (problem === undefined) return;
  throw storeError("store_unavailable", `${path} ${problem}. Ergon did not open it. Move it away, then start again.`, {
    details: { path },
  });
}

/** The files that SQLite keeps for one database. */
export function checkOwnDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) checkOwnFile(`${path}${suffix}`);
}

function problemWith(path: string): string | undefined {
  const found = statOf(path);
  if (found === undefined) return undefined;
  if (found.isSymbolicLink()) return "is a symbolic link";
  if (!found.isFile()) return "is not a regular file";
  if (found.nlink !== 1) return `has ${String(found.nlink)} names (hard links); a file of a data folder has one`;
  const uid = process.geteuid?.();
  if (uid !== undefined && found.uid !== uid) return `belongs to user ${String(found.uid)}, not to ${String(uid)}`;
  return undefined;
}

function statOf(path: string): ReturnType<typeof lstatSync> {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (thrown) {
    throw fromFileSystem(thrown, `looking at ${path}`);
  }
}
