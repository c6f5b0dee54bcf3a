import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  copyFileSync,
  fdatasync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { storeError } from "@ergon/core";
import { errnoOf } from "../blobs/file-errors.ts";

/*
 * One file of records. A use of the file begins with a header: whose it is, the number of its first record, and a salt
 * that makes the checksums of this use unlike those of any before. Then come the records: length, checksum, text.
 *
 * A record counts only whole and only after all before it, since its checksum goes on from theirs: so what an earlier use
 * left behind it, or what a write that was cut off left of it, never counts.
 *
 * The file is made longer in large steps and never cut: a sync that need not note a new length takes half as long.
 */
export type LogFile = {
  /** The numbers of its records; 0 when it has none. */
  readonly first: () => number;
  readonly last: () => number;
  /** How much of it is used. */
  readonly bytes: () => number;
  readonly isDirty: () => boolean;
  /** Nobody needs what it holds: the next record has this number. */
  readonly beginAnew: (first: number) => void;
  /** Makes sure that what it holds is never found again, and keeps a copy for people, whose name it gives. */
  readonly wipe: () => string;
  /** Throws what the file system says; then nothing was added. */
  readonly append: (text: string) => void;
  /** The texts of its records, read from the disk. */
  readonly read: () => readonly string[];
  readonly sync: () => Promise<void>;
  readonly syncNow: () => void;
  readonly close: () => void;
  readonly remove: () => void;
};

/** By so much a file grows beyond what it has to hold. */
export const GROW_BYTES = 256 * 1024;
/** A record longer than this gets memory of its own, which is given back. */
const MAX_KEPT_BUFFER = 1024 * 1024;
const MAGIC = Buffer.from("ErgnLog1");
export const STORE_ID_BYTES = 8;
const FIRST_AT = MAGIC.length + STORE_ID_BYTES;
const SALT_AT = FIRST_AT + 8;
const HEADER_CRC_AT = SALT_AT + 4;
export const HEADER_BYTES = HEADER_CRC_AT + 4;
const RECORD_HEAD_BYTES = 8;
/** Nobody else's to read, as the database. */
const PRIVATE_MODE = 0o600;

export function openLogFile(path: string, storeId: Uint8Array): LogFile {
  let file: number | undefined;
  /** That the folder names the file is on the disk. */
  let isNamed = false;
  let kept = Buffer.allocUnsafe(GROW_BYTES);
  const bytes = contents(path);
  const found = recordsIn(bytes, path, storeId);
  let size = bytes.length;
  let first = found?.first ?? 0;
  /** Where the next record goes; 0 when the header goes before it. */
  let end = found?.end ?? 0;
  let count = found?.texts.length ?? 0;
  let checksum = found?.checksum ?? 0;
  /** What a killed process left may not be on the disk. */
  let dirty = count > 0;
  /** What stands behind it must never count. */
  let clearFrom = bytes.subarray(end).some((byte) => byte !== 0) ? end : undefined;

  function opened(): number {
    file ??= openSync(path, constants.O_RDWR | constants.O_CREAT, PRIVATE_MODE);
    return file;
  }

  function clear(): void {
    if (clearFrom === undefined) return;
    writeAll(opened(), Buffer.alloc(size - clearFrom), clearFrom);
    clearFrom = undefined;
  }

  /** Room for a record in memory, behind its head and, when it is the first, the file's. */
  function room(bytes: number): Buffer {
    if (bytes <= kept.length) return kept;
    const made = Buffer.allocUnsafe(bytes);
    if (bytes <= MAX_KEPT_BUFFER) kept = made;
    return made;
  }

  function writeHeader(buffer: Buffer): number {
    MAGIC.copy(buffer);
    buffer.set(storeId, MAGIC.length);
    buffer.writeBigUInt64LE(BigInt(first), FIRST_AT);
    randomBytes(4).copy(buffer, SALT_AT);
    const sum = crc32(buffer.subarray(0, HEADER_CRC_AT));
    buffer.writeUInt32LE(sum, HEADER_CRC_AT);
    return sum;
  }

  function makeLonger(to: number): void {
    const zeros = Buffer.alloc(GROW_BYTES - (to % GROW_BYTES));
    try {
      writeAll(opened(), zeros, to);
      size = to + zeros.length;
    } catch {
      // Without it the next sync takes longer, and that is all.
      size = to;
    }
  }

  function nameIt(): void {
    if (!isNamed) syncFolder(dirname(path));
    isNamed = true;
  }

  return {
    first: () => (count === 0 ? 0 : first),
    last: () => (count === 0 ? 0 : first + count - 1),
    bytes: () => end,
    isDirty: () => dirty,
    beginAnew: (number) => {
      first = number;
      end = 0;
      count = 0;
      dirty = false;
    },
    wipe: () => {
      const aside = `${path}.aside`;
      copyFileSync(path, aside);
      writeAll(opened(), Buffer.alloc(HEADER_BYTES), 0);
      // Before a record is written elsewhere that this one's would seem to follow.
      fdatasyncSync(opened());
      end = 0;
      count = 0;
      return aside;
    },
    append: (text) => {
      const head = end === 0 ? HEADER_BYTES : 0;
      const length = Buffer.byteLength(text);
      const total = head + RECORD_HEAD_BYTES + length;
      const buffer = room(total);
      const before = head === 0 ? checksum : writeHeader(buffer);
      buffer.write(text, head + RECORD_HEAD_BYTES);
      const sum = crc32(buffer.subarray(head + RECORD_HEAD_BYTES, total), before);
      buffer.writeUInt32LE(length, head);
      buffer.writeUInt32LE(sum, head + 4);
      clear();
      dirty = true;
      writeAll(opened(), buffer.subarray(0, total), end);
      end += total;
      count += 1;
      checksum = sum;
      if (end > size) makeLonger(end);
    },
    read: () => {
      if (count === 0) return [];
      const texts = recordsIn(contents(path), path, storeId)?.texts ?? [];
      if (texts.length < count) throw storeError("store_corrupt", `${path} no longer holds what was written to it.`);
      return texts.slice(0, count);
    },
    sync: async () => {
      if (!dirty) return;
      dirty = false;
      try {
        await onDisk(opened());
        nameIt();
      } catch (thrown) {
        dirty = true;
        throw thrown;
      }
    },
    syncNow: () => {
      if (!dirty) return;
      fdatasyncSync(opened());
      nameIt();
      dirty = false;
    },
    close: () => {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
    remove: () => rmSync(path, { force: true }),
  };
}

type Found = {
  readonly first: number;
  readonly texts: readonly string[];
  readonly end: number;
  readonly checksum: number;
};

/** Undefined when no use of the file has begun. */
function recordsIn(bytes: Buffer, path: string, storeId: Uint8Array): Found | undefined {
  if (bytes.length < HEADER_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  let checksum = crc32(bytes.subarray(0, HEADER_CRC_AT));
  if (bytes.readUInt32LE(HEADER_CRC_AT) !== checksum) return undefined;
  if (!bytes.subarray(MAGIC.length, FIRST_AT).equals(storeId)) {
    throw storeError(
      "store_corrupt",
      `${path} holds commits of another database than the one beside it. Put that one back, or move this file away to do without them.`,
    );
  }
  const texts: string[] = [];
  let end = HEADER_BYTES;
  while (end + RECORD_HEAD_BYTES <= bytes.length) {
    const next = end + RECORD_HEAD_BYTES + bytes.readUInt32LE(end);
    if (next === end + RECORD_HEAD_BYTES || next > bytes.length) break;
    const text = bytes.subarray(end + RECORD_HEAD_BYTES, next);
    const sum = crc32(text, checksum);
    if (sum !== bytes.readUInt32LE(end + 4)) break;
    texts.push(text.toString());
    checksum = sum;
    end = next;
  }
  return { first: Number(bytes.readBigUInt64LE(FIRST_AT)), texts, end, checksum };
}

function contents(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return Buffer.alloc(0);
    throw thrown;
  }
}

/** One call may write less than it was given. */
function writeAll(file: number, bytes: Buffer, to: number): void {
  for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done, bytes.length - done, to + done);
}

function onDisk(file: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(file, (error) => (error === null ? resolve() : reject(error)));
  });
}

/** A new file's name is the folder's. */
function syncFolder(path: string): void {
  // Windows has no such thing and does without.
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
