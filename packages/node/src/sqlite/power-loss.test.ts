import { AsyncLocalStorage } from "node:async_hooks";
import fs, { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { silentLogger } from "@ergon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CommitLog, logFilesOf, openCommitLog, TURN_BYTES } from "./commit-log.ts";
import { HEADER_BYTES } from "./log-file.ts";

/*
 * What the loss of power may leave of the log and of the tables. Whatever was written to a real file is recorded, and so
 * is every sync, but only of the process that lives: what a dead one still does here, it does not do. When the power goes, each block of a file has what the last sync covered or what any write to it after
 * that made of it, whatever became of its neighbours; a file is as long as it was at any time since; and a file whose
 * name was never synced may be gone. The tables have what their last sync covered, or any fold after it.
 *
 * Then: every record that a sync has covered is there, and those that are there are the first of those that were written.
 */
const HISTORIES = process.env["ERGON_LONG"] === "1" ? 6_000 : 300;
const STEPS = 26;
const BLOCK_BYTES = 512;
const LARGE_CHARS = Math.ceil(TURN_BYTES / 2);
const STORE = Buffer.from("store no");

let home: string;
let made = 0;
beforeAll(() => {
  home = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "ergon-power-"));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe("a log whose machine loses power", () => {
  it(
    `has every record that was synced, and none behind a missing one, in ${String(HISTORIES)} histories`,
    { timeout: 60_000 + HISTORIES * 200 },
    async () => {
      const seen = { losses: 0, kills: 0, lost: 0, reused: 0, gaps: 0, acknowledged: 0 };
      for (let seed = 1; seed <= HISTORIES; seed += 1) await runHistory(seed, seen);
      // The losses must fall where something happens, or they show nothing.
      const { losses, gaps, ...often } = seen;
      expect(losses).toBeGreaterThanOrEqual(HISTORIES);
      expect(gaps, "gaps").toBeGreaterThan(HISTORIES / 100);
      for (const [what, count] of Object.entries(often)) expect(count, what).toBeGreaterThan(HISTORIES / 5);
    },
  );

  describe.each([
    ["this thread", false],
    ["another one", true],
  ])("while syncs are done by %s", (_, isBusy) => {
    it("has both files on the disk when a sync has ended (L3)", () =>
      onDisk(isBusy, async (world, unsynced) => {
        const log = world.open();
        for (let n = 0; n < 2; n += 1) world.append(log, LARGE_CHARS);
        world.append(log, 10);
        expect(unsynced().map((count) => count > 0)).toEqual([true, true]);
        await world.sync(log);
        expect([unsynced(), world.acknowledged()]).toEqual([[0, 0], 3]);
        return [log];
      }));

    it("has what a killed process left on the disk when the next one's sync has ended (L3)", () =>
      onDisk(isBusy, async (world, unsynced) => {
        const killed = world.open();
        world.append(killed, 10);
        world.kill();
        const log = world.open();
        expect(log.after(0)).toHaveLength(1);
        expect(unsynced().map((count) => count > 0)).toContain(true);
        await world.sync(log);
        expect([unsynced(), world.acknowledged()]).toEqual([[0, 0], 1]);
        return [killed, log];
      }));

    it("has both files that a killed process left on the disk when the next one's sync has ended (L3)", () =>
      onDisk(isBusy, async (world, unsynced) => {
        const killed = world.open();
        for (let n = 0; n < 3; n += 1) world.append(killed, LARGE_CHARS);
        world.kill();
        const log = world.open();
        expect(unsynced().map((count) => count > 0)).toEqual([true, true]);
        await world.sync(log);
        expect([unsynced(), world.acknowledged()]).toEqual([[0, 0], 3]);
        return [killed, log];
      }));

    it("has what a killed process left on the disk before what follows it in the other file (L3, L4)", () =>
      onDisk(isBusy, async (world, unsynced) => {
        const killed = world.open();
        for (let n = 0; n < 2; n += 1) world.append(killed, LARGE_CHARS);
        world.kill();
        const log = world.open();
        // The tables have it, but not on the disk: it is the log that must hold it.
        world.fold(log);
        world.append(log, 10);
        expect(unsynced().map((count) => count > 0)).toEqual([true, true]);
        await world.sync(log);
        expect(unsynced()).toEqual([0, 0]);
        return [killed, log];
      }));
  });

  it("has what a killed process left, although the one after it only syncs it and writes nothing (L3)", () =>
    onDisk(false, async (world) => {
      const logs = [];
      for (let seed = 0; seed < 20; seed += 1) {
        const killed = world.open();
        world.append(killed, 1 + seed * 100);
        world.kill();
        const log = world.open();
        await world.sync(log);
        world.losePower();
        const again = world.open();
        expect(world.check(again, `loss ${String(seed)}`)).toEqual({ lost: 0, gaps: 0 });
        logs.push(killed, log, again);
        world.kill();
      }
      return logs;
    }));
});

type World = ReturnType<typeof createWorld>;

/** `unsynced`: how many writes to each file of the log no sync has covered. */
async function onDisk(
  isBusy: boolean,
  work: (world: World, unsynced: () => readonly number[]) => Promise<readonly CommitLog[]>,
): Promise<void> {
  const disk = recordDisk();
  try {
    const world = createWorld(createRandom(1), disk);
    world.setBusy(isBusy);
    for (const log of await work(world, () => logFilesOf(world.path()).map(disk.unsynced))) await log.close();
  } finally {
    disk.end();
  }
}

type Seen = { losses: number; kills: number; lost: number; reused: number; gaps: number; acknowledged: number };

async function runHistory(seed: number, seen: Seen): Promise<void> {
  const random = createRandom(seed);
  const disk = recordDisk();
  const dead: CommitLog[] = [];
  try {
    const world = createWorld(random, disk);
    let log = world.open();
    for (let step = 0; step < STEPS; step += 1) {
      const chance = random.below(100);
      world.setBusy(random.below(2) === 0);
      if (chance < 25) world.append(log, 1 + random.below(3_000));
      else if (chance < 45) world.append(log, LARGE_CHARS - random.below(3_000));
      else if (chance < 65) world.fold(log);
      else if (chance < 80) world.endTablesSync(random.below(5) > 0);
      else if (chance < 90) await world.sync(log);
      else if (chance < 94) void world.sync(log);
      else if (chance < 97) for (let n = random.below(6); n > 0; n -= 1) await setImmediate();
      else {
        dead.push(log);
        if (random.below(2) === 0) {
          world.kill();
          seen.kills += 1;
        } else {
          world.losePower();
          seen.losses += 1;
        }
        log = world.open();
        const { lost, gaps } = world.check(log, `history ${String(seed)}, step ${String(step)}`);
        seen.lost += lost;
        seen.gaps += gaps;
      }
    }
    dead.push(log);
    world.losePower();
    seen.losses += 1;
    log = world.open();
    dead.push(log);
    const { lost, gaps } = world.check(log, `history ${String(seed)}, at its end`);
    seen.lost += lost;
    seen.gaps += gaps;
    seen.acknowledged += world.acknowledged();
    seen.reused += disk.reused();
  } finally {
    disk.end();
    for (const log of dead) await log.close();
    for (const name of fs.readdirSync(home)) rmSync(join(home, name), { recursive: true });
  }
}

/** Processes, one after the other, on one machine: each has the log and the tables of the one before. */
function createWorld(random: Random, disk: Disk) {
  let path = freshPath();
  /** What was appended and not lost, by number from 1 on. */
  let written: string[] = [];
  let acknowledged = 0;
  let life = 0;
  let isBusy = false;
  let wasKilled = false;
  let gaps = 0;
  /** Up to which record the tables have everything: as written, as on the disk, and what was written since. */
  let folded = 0;
  let safe = 0;
  let since: number[] = [];
  let tablesSync: { readonly upTo: number; readonly end: PromiseWithResolvers<void> } | undefined;

  function tablesSynced(upTo: number): void {
    safe = Math.max(safe, upTo);
    since = since.filter((number) => number > safe);
  }

  return {
    path: () => path,
    acknowledged: () => acknowledged,
    /** Whether the disk is busy with the tables. */
    setBusy: (isIt: boolean) => {
      isBusy = isIt;
    },
    open: () => {
      const before = logFilesOf(path).map(disk.unsynced);
      const log = disk.as(life, () =>
        openCommitLog({
          path,
          storeId: STORE,
          folded,
          syncTables: () => {
            tablesSync = { upTo: folded, end: Promise.withResolvers() };
            return tablesSync.end.promise;
          },
          syncTablesNow: () => tablesSynced(folded),
          isDiskBusy: () => isBusy,
          rescue: (cause) => Promise.reject(cause),
          logger: {
            ...silentLogger,
            warn: (_, message) => void (message.includes("follow on one which is not there") && (gaps += 1)),
          },
        }),
      );
      // Opening writes nothing but what makes records count no more, and that is on the disk at once.
      for (const [n, count] of logFilesOf(path).map(disk.unsynced).entries()) expect([0, before[n]]).toContain(count);
      return log;
    },
    append: (log: CommitLog, chars: number) => {
      const text = `${String(log.last() + 1)} of ${String(life)} ${"x".repeat(chars)}`;
      disk.as(life, () => log.append(text));
      written.push(text);
      expect(log.last()).toBe(written.length);
    },
    fold: (log: CommitLog) => {
      if (folded === written.length) return;
      folded = written.length;
      since.push(folded);
      log.folded(folded);
    },
    endTablesSync: (isWell: boolean) => {
      if (tablesSync === undefined) return;
      if (isWell) {
        tablesSynced(tablesSync.upTo);
        tablesSync.end.resolve();
      } else {
        tablesSync.end.reject(new Error("the disk is busy"));
      }
      tablesSync = undefined;
    },
    sync: async (log: CommitLog) => {
      const covers = log.last();
      const during = life;
      await disk.as(life, log.sync);
      // Who died meanwhile has told nobody.
      if (during === life) acknowledged = Math.max(acknowledged, covers);
    },
    /** The process dies; what it wrote is as it wrote it, synced or not. */
    kill: () => {
      life += 1;
      wasKilled = true;
      tablesSync = undefined;
      disk.goOnAs(life);
    },
    losePower: () => {
      life += 1;
      wasKilled = false;
      tablesSync = undefined;
      const kept = [safe, ...since];
      folded = kept[random.below(kept.length)] ?? safe;
      safe = folded;
      since = [];
      const next = freshPath();
      disk.goOnAs(life);
      disk.losePower(random, (file) => join(dirname(next), basename(file)));
      path = next;
    },
    check: (log: CommitLog, when: string) => {
      const found = log.after(folded);
      const expected = written.slice(folded, folded + found.length);
      expect(
        found.every((text, at) => text === expected[at]),
        `${when}: what is there is what was written`,
      ).toBe(true);
      const last = folded + found.length;
      expect(log.last(), `${when}: the last number`).toBe(last);
      expect(last, `${when}: records that were acknowledged`).toBeGreaterThanOrEqual(acknowledged);
      if (wasKilled) expect(last, `${when}: records of a process that was killed`).toBe(written.length);
      const lost = written.length - last;
      written = written.slice(0, last);
      const outcome = { lost, gaps };
      gaps = 0;
      return outcome;
    },
  };
}

type Write = { readonly at: number; readonly bytes: Buffer };

/** A file as the disk has it for certain, and what was written to it since. */
type Recorded = { disk: Buffer; pending: Write[]; isNamed: boolean };

type Disk = ReturnType<typeof recordDisk>;

/** Records what this process writes to and syncs of the files in this test's folder, while doing it. */
function recordDisk() {
  const { openSync, closeSync, writeSync, fdatasync, fdatasyncSync, fsyncSync } = fs;
  const files = new Map<string, Recorded>();
  const handles = new Map<number, string>();
  const lives = new AsyncLocalStorage<number>();
  let living = 0;
  /** How often a file was begun anew that had been used before. */
  let reused = 0;

  function isAlive(): boolean {
    return lives.getStore() === living;
  }

  function recorded(handle: number): Recorded | undefined {
    const path = handles.get(handle);
    return path === undefined ? undefined : files.get(path);
  }

  /** All that was written before this one is on the disk. */
  function synced(file: Recorded, next: Write | undefined): void {
    const count = next === undefined ? file.pending.length : file.pending.indexOf(next);
    if (count < 0) return;
    const writes = file.pending.slice(0, count);
    file.disk = grown(file.disk, endOf(writes));
    for (const { at, bytes } of writes) bytes.copy(file.disk, at);
    file.pending = file.pending.slice(count);
  }

  fs.openSync = (...args) => {
    const handle = openSync(...args);
    const path = String(args[0]);
    // The number may have been that of a file whose owner is dead.
    handles.delete(handle);
    if (!path.startsWith(home) || !isAlive()) return handle;
    handles.set(handle, path);
    if (basename(path).includes("-log") && !files.has(path))
      files.set(path, { disk: Buffer.alloc(0), pending: [], isNamed: false });
    return handle;
  };
  fs.closeSync = (handle) => {
    handles.delete(handle);
    closeSync(handle);
  };
  fs.writeSync = ((handle: number, buffer: Buffer, from: number, length: number, at: number) => {
    const count = writeSync(handle, buffer, from, length, at);
    const file = recorded(handle);
    // A file that is wiped gets a header of zeros.
    if (at === 0 && length > HEADER_BYTES && (file?.pending.length ?? 0) + (file?.disk.length ?? 0) > 0) reused += 1;
    file?.pending.push({ at, bytes: Buffer.from(buffer.subarray(from, from + count)) });
    return count;
  }) as typeof writeSync;
  fs.fdatasyncSync = (handle) => {
    fdatasyncSync(handle);
    const file = recorded(handle);
    if (file !== undefined) synced(file, undefined);
  };
  fs.fdatasync = ((handle: number, told: (error: NodeJS.ErrnoException | null) => void) => {
    const file = recorded(handle);
    // Whatever is written from now on is not part of it.
    const before = file?.pending.at(-1);
    fdatasync(handle, (error) => {
      const isOurs = file !== undefined && recorded(handle) === file;
      if (isOurs && before !== undefined && file.pending.includes(before))
        synced(file, file.pending[file.pending.indexOf(before) + 1]);
      told(error);
    });
  }) as typeof fdatasync;
  fs.fsyncSync = (handle) => {
    fsyncSync(handle);
    const folder = handles.get(handle);
    for (const [path, file] of files) if (dirname(path) === folder) file.isNamed = true;
  };
  syncBuiltinESMExports();

  return {
    reused: () => reused,
    unsynced: (path: string) => files.get(path)?.pending.length ?? 0,
    /** Does it as the process of this life. */
    as: <T>(life: number, work: () => T): T => lives.run(life, work),
    /** The one before is dead: nothing that it still does counts. */
    goOnAs: (life: number) => {
      living = life;
      handles.clear();
    },
    losePower: (random: Random, pathOf: (path: string) => string) => {
      const left = [...files].filter(([, file]) => file.isNamed || random.below(2) === 0);
      files.clear();
      for (const [path, file] of left) {
        const image = imageAfter(file, random);
        writeFileSync(pathOf(path), image);
        files.set(pathOf(path), { disk: image, pending: [], isNamed: true });
      }
    },
    end: () => {
      Object.assign(fs, { openSync, closeSync, writeSync, fdatasync, fdatasyncSync, fsyncSync });
      syncBuiltinESMExports();
    },
  };
}

/** What the disk may have of a file: each block as one of the writes to it, or none of them, left it. */
function imageAfter({ disk, pending }: Recorded, random: Random): Buffer {
  const size = Math.max(disk.length, endOf(pending));
  const image = grown(disk, size);
  const writesOf = new Uint32Array(Math.ceil(size / BLOCK_BYTES));
  const eachBlock = (visit: (block: number, piece: Piece) => void): void => {
    for (const { at, bytes } of pending) {
      for (let from = 0; from < bytes.length;) {
        const block = Math.floor((at + from) / BLOCK_BYTES);
        const end = Math.min(bytes.length, (block + 1) * BLOCK_BYTES - at);
        visit(block, { bytes, from, end, at: at + from });
        from = end;
      }
    }
  };
  eachBlock((block) => void (writesOf[block] = (writesOf[block] ?? 0) + 1));
  // Nearly all were kept, about half, or nearly none: each loses something else.
  const lossPerMille = [0, 1, 20, 500, 1_000][random.below(5)] ?? 0;
  const left = writesOf.map((count) => (count > 0 && random.below(1_000) < lossPerMille ? random.below(count) : count));
  eachBlock((block, { bytes, from, end, at }) => {
    const count = left[block] ?? 0;
    if (count === 0) return;
    bytes.copy(image, at, from, end);
    left[block] = count - 1;
  });
  const length = random.below(3) > 0 ? size : disk.length + random.below(size - disk.length + 1);
  return image.subarray(0, length);
}

/** What a write put into one block: these of its bytes, there. */
type Piece = { readonly bytes: Buffer; readonly from: number; readonly end: number; readonly at: number };

function endOf(writes: readonly Write[]): number {
  return writes.reduce((end, { at, bytes }) => Math.max(end, at + bytes.length), 0);
}

/** The same, or a copy that is so long. */
function grown(bytes: Buffer, length: number): Buffer {
  if (length <= bytes.length) return bytes;
  const copy = Buffer.alloc(length);
  bytes.copy(copy);
  return copy;
}

function freshPath(): string {
  made += 1;
  const folder = join(home, String(made));
  mkdirSync(folder);
  return join(folder, "state.db");
}

type Random = { readonly below: (end: number) => number };

/** The same seed gives the same numbers. */
function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return {
    below: (end) => {
      // mulberry32
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
    },
  };
}
