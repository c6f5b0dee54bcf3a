import { existsSync, readFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import { storeError } from "@ergon/core/schema";

/*
 * The commit log of Ergon 0.1: two files that took turns. A file begins with a header (whose it is, the number of its first
 * record, a salt); each record has its length and a checksum that goes on from the one before. Behind the last record lies
 * what an earlier use of the file left.
 */
export type OldLog = {
  /** The records that the tables lack, oldest first. */
  readonly records: readonly string[];
  /** Records that read but do not follow on those: left by an earlier use of the file, or behind damage. */
  readonly loose: readonly string[];
};

const MAGIC = Buffer.from("ErgnLog1");
const FIRST_AT = 16;
const HEADER_CRC_AT = 28;
const HEADER_BYTES = 32;
const RECORD_HEAD_BYTES = 8;
const RECORD_BEGINS = '[{"sessionId":';

export const logFilesOf = (path: string): readonly string[] => [`${path}-log0`, `${path}-log1`];

/** Throws `store_corrupt` when a file cannot be read at all: a person decides then. */
export function readOldLog(path: string, storeId: Uint8Array, folded: number): OldLog {
  const files = logFilesOf(path)
    .filter((file) => existsSync(file))
    .map((file) => recordsIn(readFileSync(file), file, storeId))
    .toSorted((a, b) => a.first - b.first);
  const records: string[] = [];
  const loose: string[] = [];
  for (const { first, texts, rest } of files) {
    const next = folded + records.length + 1;
    if (texts.length > 0 && first <= next) records.push(...texts.slice(next - first));
    else loose.push(...texts);
    loose.push(...textsIn(rest));
  }
  return { records, loose };
}

type FoundRecords = { readonly first: number; readonly texts: readonly string[]; readonly rest: Buffer };

function recordsIn(bytes: Buffer, path: string, storeId: Uint8Array): FoundRecords {
  const header = bytes.subarray(0, HEADER_BYTES);
  if (header.every((byte) => byte === 0)) return { first: 0, texts: [], rest: bytes };
  let checksum = crc32(header.subarray(0, HEADER_CRC_AT));
  const isWhole = header.length === HEADER_BYTES && header.readUInt32LE(HEADER_CRC_AT) === checksum;
  if (!isWhole || !header.subarray(0, MAGIC.length).equals(MAGIC))
    throw refused(path, "is damaged: its header does not read");
  if (!header.subarray(MAGIC.length, FIRST_AT).equals(storeId))
    throw refused(path, "holds commits of another database than the one beside it");
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
  return { first: Number(bytes.readBigUInt64LE(FIRST_AT)), texts, rest: bytes.subarray(end) };
}

/** Every record that still reads, wherever it begins. */
function textsIn(rest: Buffer): string[] {
  const texts: string[] = [];
  for (let at = rest.indexOf(RECORD_BEGINS); at >= 0; at = rest.indexOf(RECORD_BEGINS, at + 1)) {
    if (at < RECORD_HEAD_BYTES) continue;
    const text = rest.subarray(at, at + rest.readUInt32LE(at - RECORD_HEAD_BYTES)).toString();
    if (isJson(text)) texts.push(text);
  }
  return texts;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function refused(path: string, how: string) {
  return storeError(
    "store_corrupt",
    `${path} ${how}. It may hold the newest commits, so nothing was changed. Restore the data folder from a copy, or move this file away to go on without them.`,
    { details: { path } },
  );
}
