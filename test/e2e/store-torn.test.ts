import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isErgonError, type StateStore } from "@ergon/core";
import { openSqliteStateStore } from "@ergon/node";
import { createRandom, type Random } from "./store-crash/random.ts";
import { commitOf, wholeCommit } from "./store-crash/story.ts";

/*
 * What a broken disk or a lost tail may do to the files of a store.
 *
 * The log has a checksum over every record, which goes on from the one before: whatever happens to it, the store opens at
 * the last commit before the damage, or at what the tables have, whichever is later. It never opens at a commit that lies
 * behind one that is missing.
 *
 * SQLite's own log (-wal) has what was put into the tables lately, with a checksum over every frame. Whatever happens to
 * it, nothing is lost while the log still has these commits. A file of the log is used anew only after they were synced;
 * who loses them then (not by a loss of power, but by a broken disk) is left with what the tables have without them.
 *
 * The database itself has no checksums: SQLite notices broken structure, and the store refuses with a typed error when
 * it opens, reads or verifies; a flipped bit inside a stored value is not noticed. No commit is ever half there.
 */
const FACTOR = process.env["ERGON_LONG"] === "1" ? 20 : 1;
const CASES = {
  cut: 200 * FACTOR,
  flip: 200 * FACTOR,
  scramble: 50 * FACTOR,
  older: 40 * FACTOR,
  wal: 60 * FACTOR,
  reused: 40 * FACTOR,
  database: 100 * FACTOR,
};
const FOLDED = 25;
const LOGGED = 40;
const ALL = FOLDED + LOGGED;
/** The log's other file takes its turn when so many of the commits behind those that were folded are made. */
const BEFORE_TURN = 20;
const SESSION = "s";
const LOG_HEADER_BYTES = 32;
const WAL_HEADER_BYTES = 32;
const FIRST_AT = 16;
const LOGS = ["-log0", "-log1"];
const FILES = ["", "-wal", ...LOGS];

/** A store as it was left by a process that was killed. */
type Left = {
  readonly path: string;
  /** Its log's files, the older one first. */
  readonly logs: readonly string[];
  /** Where in its file of the log each commit ends, by its number. */
  readonly ends: ReadonlyMap<number, number>;
};

let home: string;
/** Commits in one file of the log; some of them are in the tables, too, which only SQLite's own log knows. */
let one: Left;
/** Commits in both files of the log; the tables have those of the older one, which only SQLite's own log knows. */
let two: Left;
/** The file of the log that had the commits after the folded ones has newer ones. */
let reused: Left;
let made = 0;

beforeAll(async () => {
  // In memory where there is such a place: here files are damaged on purpose, and no sync is needed.
  home = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "ergon-torn-"));
  const path = join(home, "state.db");
  const first = openSqliteStateStore({ path });
  for (let k = 1; k <= FOLDED; k += 1) await first.commit(commitOf(SESSION, k));
  await first.close();
  copyFileSync(path, join(home, "folded.db"));

  const ends = new Map<number, number>();
  const second = openSqliteStateStore({ path, checkpointPages: 0 });
  for (let k = FOLDED + 1; k <= ALL; k += 1) {
    await second.commit(commitOf(SESSION, k));
    ends.set(k, endOf(path));
    if (k === FOLDED + BEFORE_TURN) await second.verify();
  }
  one = leave(path, "one", ends);
  await second.close();

  const other = join(home, "other.db");
  copyFileSync(join(home, "folded.db"), other);
  const otherEnds = new Map<number, number>();
  const third = openSqliteStateStore({ path: other, checkpointPages: 0 });
  for (let k = FOLDED + 1; k <= ALL; k += 1) {
    await third.commit(commitOf(SESSION, k));
    otherEnds.set(k, endOf(other));
    if (k === FOLDED + BEFORE_TURN) await turn(third, other);
  }
  two = leave(other, "two", otherEnds);
  await turn(third, other);
  reused = leave(other, "reused", otherEnds);
  await third.close();
}, 60_000);
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe("a log that was damaged", () => {
  it(`opens at the last commit before a cut, ${String(CASES.cut)} cuts`, { timeout: 120_000 * FACTOR }, async () => {
    const random = createRandom(11);
    const [log = ""] = one.logs;
    const used = one.ends.get(ALL) ?? 0;
    for (let n = 0; n < CASES.cut; n += 1) {
      // Every other cut falls near the end of a commit, where it is most tempting to believe a half.
      const near = (one.ends.get(FOLDED + 1 + random.below(LOGGED)) ?? 0) - 40 + random.below(80);
      const length = n % 2 === 0 ? random.below(used + 1) : Math.min(used, near);
      const path = copyOf(one, ["", log]);
      truncateSync(`${path}${log}`, length);
      expect(await openedAt(path), `cut to ${String(length)} bytes`).toBe(commitsWithin(one, length));
    }
  });

  it(
    `opens at the last commit before a flipped bit, ${String(CASES.flip)} flips`,
    { timeout: 120_000 * FACTOR },
    async () => {
      const random = createRandom(12);
      const [log = ""] = one.logs;
      const used = one.ends.get(ALL) ?? 0;
      for (let n = 0; n < CASES.flip; n += 1) {
        const path = copyOf(one, ["", log]);
        const bytes = readFileSync(`${path}${log}`);
        // In the header, in what nobody has used yet, and mostly in the records.
        const within = n % 8 === 0 ? LOG_HEADER_BYTES : n % 8 === 1 ? bytes.length : used;
        const at = random.below(within);
        flip(bytes, at, random);
        writeFileSync(`${path}${log}`, bytes);
        expect(await openedAt(path), `a bit of byte ${String(at)}`).toBe(commitsWithin(one, at));
      }
    },
  );

  it(
    `opens at a whole commit when whole stretches are zeros, noise or out of place, ${String(CASES.scramble)} times`,
    { timeout: 120_000 * FACTOR },
    async () => {
      const random = createRandom(13);
      const [log = ""] = one.logs;
      const used = one.ends.get(ALL) ?? 0;
      for (let n = 0; n < CASES.scramble; n += 1) {
        const path = copyOf(one, ["", log]);
        const bytes = readFileSync(`${path}${log}`);
        const at = random.below(used);
        scramble(bytes.subarray(0, used), at, n, random);
        writeFileSync(`${path}${log}`, bytes);
        const k = await openedAt(path);
        expect(k).toBeGreaterThanOrEqual(commitsWithin(one, at));
        expect(k).toBeLessThanOrEqual(ALL);
      }
    },
  );

  it(
    `opens at what the tables have when that is later, ${String(CASES.older)} flips`,
    { timeout: 120_000 * FACTOR },
    async () => {
      const random = createRandom(15);
      const [log = ""] = one.logs;
      for (let n = 0; n < CASES.older; n += 1) {
        const path = copyOf(one);
        const bytes = readFileSync(`${path}${log}`);
        const at = random.below(one.ends.get(ALL) ?? 0);
        flip(bytes, at, random);
        writeFileSync(`${path}${log}`, bytes);
        const inTables = tablesOf(path).version;
        expect(inTables).toBeGreaterThanOrEqual(FOLDED + BEFORE_TURN);
        expect(await openedAt(path), `a bit of byte ${String(at)}`).toBe(Math.max(inTables, commitsWithin(one, at)));
      }
    },
  );

  it(
    `opens at the last commit before damage to its older file, and at none of the newer one, ${String(CASES.older)} flips`,
    { timeout: 120_000 * FACTOR },
    async () => {
      const random = createRandom(16);
      const [older = ""] = two.logs;
      for (let n = 0; n < CASES.older; n += 1) {
        // Without SQLite's own log, the tables have none of the commits that the older file has.
        const path = copyOf(two, ["", ...LOGS]);
        const bytes = readFileSync(`${path}${older}`);
        const at = random.below(n % 2 === 0 ? bytes.length : (two.ends.get(FOLDED + BEFORE_TURN) ?? 0));
        // What follows the last of them in that file is no commit of the session, but the newer file follows that.
        const isWhole = at >= endIn(bytes);
        flip(bytes, at, random);
        writeFileSync(`${path}${older}`, bytes);
        const expected = isWhole ? ALL : Math.min(FOLDED + BEFORE_TURN, commitsWithin(two, at));
        expect(await openedAt(path), `a bit of byte ${String(at)}`).toBe(expected);
      }
    },
  );

  it("does not matter where the tables have what it held", async () => {
    const [older = ""] = two.logs;
    for (const damage of [() => Buffer.alloc(0), (bytes: Buffer) => bytes.fill(0), (bytes: Buffer) => bytes.fill(7)]) {
      const path = copyOf(two);
      writeFileSync(`${path}${older}`, damage(readFileSync(`${path}${older}`)));
      expect(await openedAt(path)).toBe(ALL);
    }
  });

  it("is not missed when it is gone", async () => {
    expect(await openedAt(copyOf(one, [""]))).toBe(FOLDED);
    expect(await openedAt(copyOf(two, [""]))).toBe(FOLDED);
    const { version } = tablesOf(copyOf(one));
    expect(await openedAt(copyOf(one, ["", "-wal"]))).toBe(version);
  });
});

describe("SQLite's own log that was damaged", () => {
  it.each([
    ["one file", () => one],
    ["two files", () => two],
  ])(
    `costs nothing while the log has it all in %s, ${String(CASES.wal)} times`,
    { timeout: 120_000 * FACTOR },
    async (_, left) => {
      const random = createRandom(17);
      for (let n = 0; n < CASES.wal; n += 1) {
        const path = copyOf(left());
        const at = damageWal(path, n, random);
        expect(await openedAt(path), `damaged at byte ${String(at)}`).toBe(ALL);
      }
      const gone = copyOf(left());
      rmSync(`${gone}-wal`);
      expect(await openedAt(gone)).toBe(ALL);
    },
  );

  it(
    `leaves what the tables have without it when the log no longer has it, ${String(CASES.reused)} times`,
    { timeout: 120_000 * FACTOR },
    async () => {
      const random = createRandom(18);
      const outcomes = { all: 0, less: 0 };
      // The oldest record that the log still has.
      const from = Math.min(...LOGS.map((log) => firstOf(`${reused.path}${log}`)));
      expect(from).toBeGreaterThan(firstOf(`${two.path}${two.logs[0] ?? ""}`));
      for (let n = 0; n < CASES.reused; n += 1) {
        const path = copyOf(reused);
        const at = damageWal(path, n, random);
        const tables = tablesOf(path);
        const hasAll = tables.folded + 1 >= from;
        outcomes[hasAll ? "all" : "less"] += 1;
        expect(await openedAt(path), `damaged at byte ${String(at)}`).toBe(hasAll ? ALL : tables.version);
      }
      expect(outcomes.less).toBeGreaterThan(0);
      const gone = copyOf(reused);
      rmSync(`${gone}-wal`);
      expect(await openedAt(gone)).toBe(FOLDED);
      expect(await openedAt(copyOf(reused))).toBe(ALL);
    },
  );
});

describe("a database that was damaged", () => {
  it(
    `has every row of every commit, or is refused with a typed error, ${String(CASES.database)} flips`,
    { timeout: 120_000 * FACTOR },
    async () => {
      const random = createRandom(14);
      const whole = await rowCounts(openSqliteStateStore({ path: copyWhole() }));
      const refusals = ["store_corrupt", "store_newer", "store_unavailable"];
      const outcomes = { refused: 0, whole: 0 };
      for (let n = 0; n < CASES.database; n += 1) {
        const path = copyWhole();
        const bytes = readFileSync(path);
        const at = n % 4 === 0 ? random.below(100) : random.below(bytes.length);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
        writeFileSync(path, bytes);
        const found = await foundIn(path);
        expect([whole, ...refusals], `a bit of byte ${String(at)}`).toContainEqual(found);
        outcomes[typeof found === "string" ? "refused" : "whole"] += 1;
      }
      expect(outcomes.refused).toBeGreaterThan(0);
      expect(outcomes.whole).toBeGreaterThan(0);
    },
  );

  it.each([
    ["cut in half", (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ["cut inside its first page", (bytes: Buffer) => bytes.subarray(0, 700)],
    ["another kind of file", () => Buffer.from("%PDF-1.7 this is not a database, whatever its name says".repeat(20))],
    ["zeros", (bytes: Buffer) => Buffer.alloc(bytes.length)],
  ])("is refused when it is %s", async (_, damage) => {
    const path = copyWhole();
    writeFileSync(path, damage(readFileSync(path)));
    expect(await foundIn(path)).toBe("store_corrupt");
  });
});

/** The store as it is now, under a name of its own. */
function leave(path: string, name: string, ends: ReadonlyMap<number, number>): Left {
  const copy = join(home, `${name}-left.db`);
  const there = FILES.filter((end) => existsSync(`${path}${end}`));
  for (const end of there) copyFileSync(`${path}${end}`, `${copy}${end}`);
  const logs = LOGS.filter((end) => there.includes(end));
  logs.sort((a, b) => firstOf(`${copy}${a}`) - firstOf(`${copy}${b}`));
  return { path: copy, logs, ends: new Map(ends) };
}

/** Only these of its files, or all. */
function copyOf(left: Left, ends: readonly string[] = FILES): string {
  const path = freshPath();
  for (const end of ends) if (existsSync(`${left.path}${end}`)) copyFileSync(`${left.path}${end}`, `${path}${end}`);
  return path;
}

/** Writes what is no commit of the session until the log goes on in its other file. */
async function turn(store: StateStore, path: string): Promise<void> {
  const newest = (): number => Math.max(...LOGS.map((log) => firstOf(`${path}${log}`)));
  const before = newest();
  const text = "x".repeat(1_000_000);
  for (let n = 0; newest() === before; n += 1) {
    if (n === 50) throw new Error("The log stays in its file.");
    await store.commit({ sessionId: "", owner: "ada", events: [{ type: "tools-changed", at: "", data: { text } }] });
    await setTimeout(5);
  }
}

/** The number of a log file's first record; 0 when there is none. */
function firstOf(log: string): number {
  if (!existsSync(log)) return 0;
  return Number(readFileSync(log).readBigUInt64LE(FIRST_AT));
}

/** Where the newest record ends: behind it there are zeros only. */
function endOf(path: string): number {
  const [newest = ""] = LOGS.toSorted((a, b) => firstOf(`${path}${b}`) - firstOf(`${path}${a}`));
  return endIn(readFileSync(`${path}${newest}`));
}

function endIn(bytes: Buffer): number {
  return bytes.findLastIndex((byte) => byte !== 0) + 1;
}

function flip(bytes: Buffer, at: number, random: Random): void {
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
}

function scramble(bytes: Buffer, at: number, n: number, random: Random): void {
  const stretch = bytes.subarray(at, at + 1 + random.below(20_000));
  if (n % 3 === 0) stretch.fill(0);
  else if (n % 3 === 1) for (const [index] of stretch.entries()) stretch[index] = random.below(256);
  else bytes.copyWithin(at, random.below(bytes.length), bytes.length);
}

function damageWal(path: string, n: number, random: Random): number {
  const bytes = readFileSync(`${path}-wal`);
  const at = n % 8 === 0 ? random.below(WAL_HEADER_BYTES) : random.below(bytes.length);
  if (n % 3 === 0) flip(bytes, at, random);
  else if (n % 3 === 1) scramble(bytes, at, Math.floor(n / 3), random);
  writeFileSync(`${path}-wal`, n % 3 === 2 ? bytes.subarray(0, at) : bytes);
  return at;
}

/** What SQLite itself finds in the tables: the session's version, and up to which record of the log they have it. */
function tablesOf(path: string): { readonly version: number; readonly folded: number } {
  const copy = freshPath();
  for (const end of ["", "-wal"]) if (existsSync(`${path}${end}`)) copyFileSync(`${path}${end}`, `${copy}${end}`);
  const db = new DatabaseSync(copy);
  const version = db.prepare("SELECT version FROM sessions WHERE id = ?").get(SESSION)?.["version"];
  const folded = db.prepare("SELECT folded FROM log").get()?.["folded"];
  db.close();
  rmSync(join(copy, ".."), { recursive: true });
  return { version: Number(version), folded: Number(folded) };
}

/** The store after everything was folded into the database. */
function copyWhole(): string {
  const path = freshPath();
  copyFileSync(join(home, "state.db"), path);
  return path;
}

function freshPath(): string {
  made += 1;
  const folder = join(home, String(made));
  mkdirSync(folder);
  return join(folder, "state.db");
}

/** The last commit that ends within so many bytes of the file of the log that has the first. */
function commitsWithin({ ends }: Left, bytes: number): number {
  let k = FOLDED;
  while ((ends.get(k + 1) ?? Infinity) <= bytes) k += 1;
  return k;
}

/** The commit that the store is at; throws when it is not whole. */
async function openedAt(path: string): Promise<number> {
  const store = openSqliteStateStore({ path });
  try {
    return await wholeCommit(store, SESSION);
  } finally {
    await store.close();
    rmSync(join(path, ".."), { recursive: true });
  }
}

/** What is in it, or the code it is refused with. */
async function foundIn(path: string): Promise<unknown> {
  try {
    const store = openSqliteStateStore({ path });
    try {
      if ((await store.verify()).length > 0) return "store_corrupt";
      return await rowCounts(store);
    } finally {
      await store.close();
    }
  } catch (thrown) {
    if (isErgonError(thrown)) return thrown.code;
    throw thrown;
  } finally {
    rmSync(join(path, ".."), { recursive: true });
  }
}

async function rowCounts(store: StateStore): Promise<object> {
  const sessions = await store.listSessions({ limit: 10 });
  const sessionId = SESSION;
  return {
    sessions: sessions.items.length,
    journal: (await store.readJournal({ sessionId, order: "oldest", limit: 1_000 })).length,
    events: (await store.readEvents({ afterSeq: 0, limit: 1_000 })).length,
    context: (await store.readScopes({ sessionId, scopePrefix: "", limit: 1_000 })).items.length,
    energy: (await store.readEnergy({})).rows,
  };
}
