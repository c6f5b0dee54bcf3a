import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Logger } from "@ergon/core";
import { syncPath } from "../../blobs/sync-path.ts";
import { PRIVATE_FILE_MODE } from "../../ownership/own-file.ts";
import { freeName } from "./free-name.ts";

/*
 * SQLite takes a WAL up to its first frame that is not whole, and says nothing of what lies behind. A loss of power leaves
 * such a WAL, and nothing in it was acknowledged then; a broken disk or a copy of a running folder may leave one, too.
 * So a copy is kept, and it is said how much was discarded.
 *
 * The format: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
 */
const MAGIC = 0x377f0682;
const HEADER_BYTES = 32;
const FRAME_HEAD_BYTES = 24;
const SALT_BYTES = 8;

/**
 * Call it before SQLite opens the database. True: a copy was kept. Checkpoint the WAL then, or what lies behind the damage
 * is found, kept and said again at each start after a kill.
 */
export function keepDamagedWal(path: string, logger: Logger | undefined): boolean {
  const transactions = discardedBy(path);
  if (transactions === 0) return false;
  const file = `${path}-wal`;
  const copy = freeName(`${file}.damaged`);
  copyFileSync(file, copy);
  syncKept(copy);
  logger?.warn(
    { path, transactions, copy },
    "The WAL is damaged: transactions in it were discarded. A copy was saved.",
  );
  return true;
}

/** Writes down what a WAL held that was taken away from its database. Gives the file, if there is anything in it. */
export function keepRemovedWal(path: string, wal: Buffer): string | undefined {
  if (wal.length === 0) return undefined;
  const copy = freeName(`${path}-wal.removed`);
  writeFileSync(copy, wal, { mode: PRIVATE_FILE_MODE, flag: "wx" });
  syncKept(copy);
  return copy;
}

/** What is kept of damaged and of removed WALs, for `doctor`. */
export function keptWals(path: string): readonly string[] {
  const folder = dirname(path);
  const kept = (name: string): string[] =>
    readdirSync(folder)
      .filter((file) => file.startsWith(`${basename(path)}-wal.${name}`))
      .map((file) => join(folder, file));
  return [
    ...kept("damaged").map(
      (file) =>
        `A damaged WAL was found at a start and transactions in it were discarded. It is kept in ${file}; move it away when you have looked at it.`,
    ),
    ...kept("removed").map(
      (file) =>
        `The WAL was removed or replaced while a process used it. What it held is kept in ${file}. If nothing was written since, end all processes, move it to ${path}-wal and start again; else move it away.`,
    ),
  ];
}

/** How many transactions the next start would discard. Only of a database that no process uses: a write looks like damage. */
export function discardedBy(path: string): number {
  const file = `${path}-wal`;
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0 ? 0 : discardedIn(readFileSync(file));
}

function syncKept(copy: string): void {
  syncPath(copy);
  syncPath(dirname(copy));
}

/** How many transactions end in a frame that SQLite will not take, although it belongs to this use of the file. */
export function discardedIn(wal: Buffer): number {
  if (wal.length < HEADER_BYTES + FRAME_HEAD_BYTES) return 0;
  const pageBytes = wal.readUInt32BE(8);
  const frameBytes = FRAME_HEAD_BYTES + (isPageSize(pageBytes) ? pageBytes : 4_096);
  const sum = createChecksum((wal.readUInt32BE(0) & 1) === 1);
  sum.add(wal, 0, 24);
  let isWhole = (wal.readUInt32BE(0) & ~1) === MAGIC && sum.is(wal, 24);
  const saltsAt = (at: number): Buffer => wal.subarray(at, at + SALT_BYTES);
  let salts = isWhole ? saltsAt(16) : undefined;
  let discarded = 0;
  for (let at = HEADER_BYTES; at + frameBytes <= wal.length; at += frameBytes) {
    const found = saltsAt(at + 8);
    // A broken header may have taken the first frames with it: the first that is not zeros tells.
    if (found.some((byte) => byte !== 0)) salts ??= found;
    // Frames of an earlier use of the file have other salts.
    const isOurs = salts?.equals(found) === true;
    if (isWhole) {
      sum.add(wal, at, 8);
      sum.add(wal, at + FRAME_HEAD_BYTES, frameBytes - FRAME_HEAD_BYTES);
      isWhole = isOurs && sum.is(wal, at + 16);
    }
    if (!isWhole && isOurs && wal.readUInt32BE(at + 4) !== 0) discarded += 1;
  }
  return discarded;
}

function isPageSize(bytes: number): boolean {
  return bytes >= 512 && bytes <= 65_536 && (bytes & (bytes - 1)) === 0;
}

/** SQLite's running checksum over 32-bit words. */
function createChecksum(isBigEndian: boolean) {
  let a = 0;
  let b = 0;
  return {
    add: (bytes: Buffer, from: number, length: number): void => {
      const view = new DataView(bytes.buffer, bytes.byteOffset + from, length);
      for (let at = 0; at < length; at += 8) {
        a = (a + view.getUint32(at, !isBigEndian) + b) >>> 0;
        b = (b + view.getUint32(at + 4, !isBigEndian) + a) >>> 0;
      }
    },
    is: (bytes: Buffer, at: number): boolean => bytes.readUInt32BE(at) === a && bytes.readUInt32BE(at + 4) === b,
  };
}
