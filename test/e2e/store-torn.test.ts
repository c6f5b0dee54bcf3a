import {
  closeSync,
  copyFileSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isErgonError } from "@ergon/core";
import type { StateStore } from "@ergon/core/store-kit";
import { openSqliteStateStore } from "@ergon/node";
import { createRandom } from "./store-crash/random.ts";
import { commitOf, wholeCommit } from "./store-crash/story.ts";

/*
 * What a broken disk or a lost tail may do to the files of a store.
 *
 * The log (WAL) has a checksum over every frame: whatever happens to it, the store opens at the last commit before the
 * damage. The database itself has none: SQLite notices broken structure, and the store refuses with a typed error when
 * it opens, reads or verifies; a flipped bit inside a stored value is not noticed. No commit is ever half there.
 */
const FACTOR = process.env["ERGON_LONG"] === "1" ? 20 : 1;
const CASES = { cut: 200 * FACTOR, flip: 200 * FACTOR, scramble: 50 * FACTOR, database: 100 * FACTOR };
const FOLDED = 25;
const LOGGED = 40;
const SESSION = "s";
const WAL_HEADER_BYTES = 32;

let home: string;
/** Where in the log each commit ends. */
const ends: number[] = [];
let logBytes = 0;
let made = 0;

beforeAll(async () => {
  // In memory where there is such a place: here files are damaged on purpose, and no sync is needed.
  home = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "ergon-torn-"));
  const path = join(home, "state.db");
  const first = openSqliteStateStore({ path });
  for (let k = 1; k <= FOLDED; k += 1) await first.commit(commitOf(SESSION, k));
  await first.close();
  const second = openSqliteStateStore({ path, checkpointPages: 0 });
  for (let k = FOLDED + 1; k <= FOLDED + LOGGED; k += 1) {
    await second.commit(commitOf(SESSION, k));
    ends.push(statSync(`${path}-wal`).size);
  }
  logBytes = statSync(`${path}-wal`).size;
  for (const end of ["", "-wal"]) copyFileSync(`${path}${end}`, `${join(home, "base.db")}${end}`);
  await second.close();
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe("a log that was damaged", () => {
  it(`opens at the last commit before a cut, ${String(CASES.cut)} cuts`, { timeout: 120_000 * FACTOR }, async () => {
    const random = createRandom(11);
    for (let n = 0; n < CASES.cut; n += 1) {
      // Every other cut falls near the end of a commit, where it is most tempting to believe a half.
      const near = (ends[random.below(ends.length)] ?? 0) - 40 + random.below(80);
      const length = n % 2 === 0 ? random.below(logBytes + 1) : Math.min(logBytes, near);
      const path = copyStore();
      const file = openSync(`${path}-wal`, "r+");
      ftruncateSync(file, length);
      closeSync(file);
      expect(await openedAt(path), `cut to ${String(length)} bytes`).toBe(commitsWithin(length));
    }
  });

  it(
    `opens at the last commit before a flipped bit, ${String(CASES.flip)} flips`,
    { timeout: 120_000 * FACTOR },
    async () => {
      const random = createRandom(12);
      for (let n = 0; n < CASES.flip; n += 1) {
        const path = copyStore();
        const log = readFileSync(`${path}-wal`);
        const at = n % 8 === 0 ? random.below(WAL_HEADER_BYTES) : random.below(log.length);
        log[at] = (log[at] ?? 0) ^ (1 << random.below(8));
        writeFileSync(`${path}-wal`, log);
        expect(await openedAt(path), `a bit of byte ${String(at)}`).toBe(commitsWithin(at));
      }
    },
  );

  it(
    `opens at a whole commit when whole stretches are zeros, noise or out of place, ${String(CASES.scramble)} times`,
    { timeout: 120_000 * FACTOR },
    async () => {
      const random = createRandom(13);
      for (let n = 0; n < CASES.scramble; n += 1) {
        const path = copyStore();
        const log = readFileSync(`${path}-wal`);
        const at = random.below(log.length);
        const stretch = log.subarray(at, at + 1 + random.below(20_000));
        if (n % 3 === 0) stretch.fill(0);
        else if (n % 3 === 1) for (const [index] of stretch.entries()) stretch[index] = random.below(256);
        else log.copyWithin(at, random.below(log.length), log.length);
        writeFileSync(`${path}-wal`, log);
        const k = await openedAt(path);
        expect(k).toBeGreaterThanOrEqual(commitsWithin(at));
        expect(k).toBeLessThanOrEqual(FOLDED + LOGGED);
      }
    },
  );

  it("is not missed when it is gone", async () => {
    const gone = copyStore();
    rmSync(`${gone}-wal`);
    expect(await openedAt(gone)).toBe(FOLDED);
  });
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

function copyStore(): string {
  const path = freshPath();
  for (const end of ["", "-wal"]) copyFileSync(`${join(home, "base.db")}${end}`, `${path}${end}`);
  return path;
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

function commitsWithin(bytes: number): number {
  return FOLDED + ends.filter((end) => end <= bytes).length;
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
