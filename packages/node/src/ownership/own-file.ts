import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  type Stats,
} from "node:fs";
import { join } from "node:path";
import type { ErgonError } from "@ergon/core";
import { storeError } from "@ergon/core/schema";
import { errnoOf, fromFileSystem } from "../blobs/file-errors.ts";

/** Only this user reads and writes a file of the data folder. */
export const PRIVATE_FILE_MODE = 0o600;

/**
 * Throws `store_unavailable` unless the path is absent or a regular file of this user with one name. A link planted in a
 * data folder would otherwise make Ergon write to a file outside of it.
 */
export function checkOwnFile(path: string): void {
  const found = statOf(path);
  const problem = found && problemWith(found);
  if (problem !== undefined) throw notOurs(path, problem);
}

/** The same for a folder inside the data folder. */
export function checkOwnFolder(path: string): void {
  const found = statOf(path);
  const problem = found && folderProblem(found);
  if (problem !== undefined) throw notOurs(path, problem);
}

/** The same for a folder and everything below it; for one whose files are opened by others' code. */
export function checkOwnTree(folder: string): void {
  checkOwnFolder(folder);
  if (statOf(folder) === undefined) return;
  const foreign = foreignEntry(folder, () => false);
  if (foreign !== undefined) throw notOurs(folder, `holds what is not yours: ${foreign}`);
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) checkOwnTree(join(folder, entry.name));
}

/** The first thing directly inside a folder that is neither a file nor a folder of this user's own, or has others deleted. */
export function foreignEntry(folder: string, isAllowed: (name: string, found: Stats) => boolean): string | undefined {
  for (const name of readdirSync(folder)) {
    const found = lstatSync(join(folder, name), { throwIfNoEntry: false });
    if (found === undefined || isAllowed(name, found)) continue;
    const path = join(folder, name);
    const problem = found.isDirectory() ? folderProblem(found) : (problemWith(found) ?? journalProblem(path));
    if (problem !== undefined) return `${name} ${problem}`;
  }
  return undefined;
}

/**
 * The bytes of a regular file of this user with one name, undefined when there is none. Neither a link nor a pipe is
 * opened. A file with a secret in it is first closed to other users.
 */
export function readOwnFile(path: string, maxBytes: number, isSecret = false): Buffer | undefined {
  return read(path, NO_FOLLOW, (found, file) => {
    const problem = problemWith(found);
    if (problem !== undefined) throw notOurs(path, problem);
    if (found.size > maxBytes) throw tooLarge(path, maxBytes);
    if (isSecret && (found.mode & 0o077) !== 0) fchmodSync(file, PRIVATE_FILE_MODE);
  });
}

/** The same for a file that may be anyone's, and may be reached through links. */
export function readBounded(path: string, maxBytes: number): Buffer | undefined {
  return read(path, 0, (found) => {
    if (!found.isFile()) throw new TypeError(`${path} is not a regular file`);
    if (found.size > maxBytes) throw tooLarge(path, maxBytes);
  });
}

/** Absent on Windows, where making symbolic links takes an administrator. */
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
/** So that opening a pipe does not wait for its other end. */
const NO_WAIT = constants.O_NONBLOCK ?? 0;

function read(path: string, flags: number, check: (found: Stats, file: number) => void): Buffer | undefined {
  return open(path, flags, (found, file) => {
    check(found, file);
    return readFileSync(file);
  });
}

/** Undefined when there is no such file. */
function open<T>(path: string, flags: number, use: (found: Stats, file: number) => T): T | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | NO_WAIT | flags);
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return undefined;
    if (errnoOf(thrown) === "ELOOP") throw notOurs(path, "is a symbolic link");
    throw thrown;
  }
  try {
    return use(fstatSync(file), file);
  } finally {
    closeSync(file);
  }
}

function tooLarge(path: string, maxBytes: number): RangeError {
  return new RangeError(`${path} has more than ${String(maxBytes)} bytes`);
}

function notOurs(path: string, problem: string): ErgonError {
  return storeError("store_unavailable", `${path} ${problem}. Ergon did not open it. Move it away, then start again.`, {
    details: { path },
  });
}

/** The files that SQLite keeps for one database. */
export function checkOwnDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) checkOwnFile(`${path}${suffix}`);
}

function problemWith(found: Stats): string | undefined {
  if (found.isSymbolicLink()) return "is a symbolic link";
  if (!found.isFile()) return "is not a regular file";
  if (found.nlink !== 1) return `has ${String(found.nlink)} names (hard links); a file of a data folder has one`;
  return ownerProblem(found);
}

export function folderProblem(found: Stats): string | undefined {
  if (found.isSymbolicLink()) return "is a symbolic link";
  return found.isDirectory() ? ownerProblem(found) : "is not a folder";
}

/** What the name of another file in a journal ends with: https://www.sqlite.org/src/doc/trunk/src/pager.c, readSuperJournal. */
const JOURNAL_MAGIC = Buffer.from("d9d505f920a163d7", "hex");

/**
 * The journal of a transaction over several databases names a file that SQLite deletes once it rolled the journal back: in
 * the SQLite of older Nodes any file. Ergon's transactions write one database each.
 */
function journalProblem(path: string): string | undefined {
  if (!path.endsWith("-journal")) return undefined;
  const end = Buffer.alloc(JOURNAL_MAGIC.length);
  const at = ({ size }: Stats): number => Math.max(0, size - end.length);
  open(path, NO_FOLLOW, (found, file) => readSync(file, end, 0, end.length, at(found)));
  return end.equals(JOURNAL_MAGIC) ? "has SQLite delete another file" : undefined;
}

function ownerProblem({ uid }: Stats): string | undefined {
  const ours = process.geteuid?.();
  return ours === undefined || uid === ours ? undefined : `belongs to user ${String(uid)}, not to ${String(ours)}`;
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (thrown) {
    throw fromFileSystem(thrown, `looking at ${path}`);
  }
}
