/*
 * Tells whether git tracks files of a folder. It reads the index itself: `git` would run programs that the repository's
 * configuration names, such as core.fsmonitor.
 */
import { readdirSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { errnoOf } from "../blobs/file-errors.ts";
import { readBounded } from "./own-file.ts";

export const MAX_INDEX_BYTES = 256 * 1024 * 1024;
const MAX_POINTER_BYTES = 8 * 1024;
const MAX_SHARED_INDEXES = 100;

/** The repository whose index has this folder or a file in it; the path must be real. Throws when an index is unreadable. */
export function trackedBy(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const repository = gitFolderAt(at);
    const inside = fold(relative(at, folder).split(sep).join("/"));
    if (repository !== undefined && indexesOf(repository).some((index) => hasPath(index, inside))) return at;
    if (dirname(at) === at) return undefined;
  }
}

/** `.git` is a folder, or in worktrees and submodules a file that names one. */
function gitFolderAt(folder: string): string | undefined {
  const path = join(folder, ".git");
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isDirectory()) return found && path;
  const [, target] = /^gitdir: (.+?)\s*$/m.exec(readBounded(path, MAX_POINTER_BYTES)?.toString("utf8") ?? "") ?? [];
  return target === undefined ? undefined : resolve(folder, target);
}

/** A split index keeps most of its entries in files of its own. */
function indexesOf(repository: string): Buffer[] {
  let names: string[];
  try {
    names = readdirSync(repository).filter((name) => name === "index" || name.startsWith("sharedindex."));
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return [];
    throw thrown;
  }
  if (names.length > MAX_SHARED_INDEXES)
    throw new RangeError(`${repository} has more than ${MAX_SHARED_INDEXES} indexes`);
  return names.flatMap((name) => readBounded(join(repository, name), MAX_INDEX_BYTES) ?? []);
}

/** Git names objects by SHA-1 or by SHA-256; the index does not say which, but only one of the two makes sense of it. */
function hasPath(index: Buffer, wanted: string): boolean {
  const found = search(index, wanted, SHA1_BYTES) ?? search(index, wanted, SHA256_BYTES);
  if (found === undefined) throw new Error("git's index has a form that is not known here");
  return found;
}

const SHA1_BYTES = 20;
const SHA256_BYTES = 32;
const HEADER_BYTES = 12;
/** Times, device, inode, mode, owner and size. */
const STAT_BYTES = 40;
const EXTENDED = 0x4000;
const LENGTH_MASK = 0xfff;

/** Undefined when the bytes are no index with hashes of that length. */
function search(index: Buffer, wanted: string, hashBytes: number): boolean | undefined {
  if (index.length < HEADER_BYTES || index.toString("latin1", 0, 4) !== "DIRC") return undefined;
  const version = index.readUInt32BE(4);
  if (version < 2 || version > 4) return undefined;
  let name: Buffer = Buffer.alloc(0);
  let at = HEADER_BYTES;
  for (let left = index.readUInt32BE(8); left > 0; left -= 1) {
    const flagsAt = at + STAT_BYTES + hashBytes;
    if (flagsAt + 4 > index.length) return undefined;
    const flags = index.readUInt16BE(flagsAt);
    let start = flagsAt + ((flags & EXTENDED) === 0 ? 2 : 4);
    let kept = 0;
    if (version === 4) {
      const dropped = readOffset(index, start);
      start = dropped.end;
      kept = name.length - dropped.value;
      if (kept < 0) return undefined;
    }
    const end = index.indexOf(0, start);
    if (end < 0) return undefined;
    const rest = index.subarray(start, end);
    name = kept === 0 ? rest : Buffer.concat([name.subarray(0, kept), rest]);
    if (name.length !== (flags & LENGTH_MASK) && name.length < LENGTH_MASK) return undefined;
    if (isInside(name, wanted)) return true;
    at = version === 4 ? end + 1 : at + ((end - at + 8) & ~7);
  }
  return false;
}

/** Version 4 says how much of the name before it drops, seven bits a byte, the highest first. */
function readOffset(index: Buffer, at: number): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let end = at; end < index.length;) {
    const byte = index[end] ?? 0;
    value = value * 128 + (byte & 0x7f);
    end += 1;
    if ((byte & 0x80) === 0) return { value, end };
    value += 1;
  }
  return { value: Number.MAX_SAFE_INTEGER, end: index.length };
}

function isInside(name: Buffer, wanted: string): boolean {
  if (name.length === 0) return false;
  if (wanted === "") return true;
  const text = fold(name.toString("utf8"));
  return text === wanted || text.startsWith(`${wanted}/`);
}

/** On some file systems names that differ only in case or in composition are the same. */
function fold(path: string): string {
  return path.normalize("NFC").toLowerCase();
}
