import fs, { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openOwnedDatabase } from "./database/owned-database.ts";
import { openSqliteStateStore, type SqliteStateStore } from "./state/state-store.ts";

/*
 * What the loss of power may leave of a store. The database itself changes only by the checkpoint after a damaged WAL, which
 * SQLite syncs itself; of the WAL each block has what the last sync covered, what was written since, or nothing where the file was
 * shorter then. A killed process leaves everything as it wrote it, but not on the disk.
 *
 * Then: every commit that was acknowledged as durable, or before a sync that has ended, is there, and those that are there
 * are the first of those that were made (S2).
 */
const HISTORIES = process.env["ERGON_LONG"] === "1" ? 1_000 : 25;
const STEPS = 40;
const BLOCK_BYTES = 512;
const HEADER_BYTES = 32;
const { fdatasync, fdatasyncSync } = fs;

let home: string;
let base: string;
let made = 0;
beforeAll(async () => {
  home = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "ergon-power-"));
  base = join(home, "base.db");
  await openOwnedDatabase({ path: base }).close();
});
afterAll(() => {
  Object.assign(fs, { fdatasync, fdatasyncSync });
  syncBuiltinESMExports();
  rmSync(home, { recursive: true, force: true });
});

describe("a store whose machine loses power", () => {
  it(
    `has every commit that was acknowledged, and none behind a missing one, in ${String(HISTORIES)} histories`,
    { timeout: 60_000 + HISTORIES * 2_000 },
    async () => {
      const seen = { losses: 0, kills: 0, lost: 0, acknowledged: 0 };
      for (let seed = 1; seed <= HISTORIES; seed += 1) await runHistory(seed, seen);
      // The losses must fall where something happens, or they show nothing.
      for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(HISTORIES / 5);
    },
  );

  it("has what a killed process left once the next one has synced, though that wrote nothing", async () => {
    const machine = startMachine(createRandom(1));
    await machine.commit(false);
    await machine.kill();
    await machine.sync();
    await machine.losePower();
    expect(machine.written()).toBe(1);
    await machine.end();
  });
});

type Seen = { losses: number; kills: number; lost: number; acknowledged: number };

async function runHistory(seed: number, seen: Seen): Promise<void> {
  const random = createRandom(seed);
  const machine = startMachine(random);
  for (let step = 0; step < STEPS; step += 1) {
    const chance = random(100);
    if (chance < 60) await machine.commit(random(4) === 0);
    else if (chance < 75) await machine.sync();
    else if (chance < 85) void machine.sync();
    else if (chance < 92) for (let n = random(6); n > 0; n -= 1) await setImmediate();
    else if (chance < 96) {
      await machine.kill();
      seen.kills += 1;
    } else {
      seen.lost += await machine.losePower();
      seen.losses += 1;
    }
  }
  seen.lost += await machine.losePower();
  seen.losses += 1;
  seen.acknowledged += machine.acknowledged();
  await machine.end();
}

/** Processes, one after the other, on one machine: each has the files of the one before. */
function startMachine(random: Random) {
  let path = freshPath(base);
  /** The WAL as the disk has it for certain. */
  let onDisk: Buffer = Buffer.alloc(0);
  let written = 0;
  let acknowledged = 0;
  const stores: SqliteStateStore[] = [];
  let store = open();

  function open(): SqliteStateStore {
    const file = `${path}-wal`;
    fs.fdatasync = ((handle: number, told: (error: NodeJS.ErrnoException | null) => void) => {
      const covered = readFileSync(file);
      fdatasync(handle, (error) => {
        if (file === `${path}-wal`) onDisk = covered;
        told(error);
      });
    }) as typeof fdatasync;
    fs.fdatasyncSync = (handle) => {
      fdatasyncSync(handle);
      // After a slow one, another thread does the next ones.
      for (const until = performance.now() + random(2); performance.now() < until;);
      if (file === `${path}-wal`) onDisk = readFileSync(file);
    };
    syncBuiltinESMExports();
    const opened = openSqliteStateStore({ path, checkpointPages: 0 });
    // SQLite itself syncs the header of a WAL that it begins anew, before it writes anything behind it.
    onDisk = Buffer.concat([readFileSync(file).subarray(0, HEADER_BYTES), onDisk.subarray(HEADER_BYTES)]);
    stores.push(opened);
    return opened;
  }

  /** The next process finds this WAL. */
  async function restart(wal: Buffer): Promise<number> {
    const before = written;
    path = freshPath(path);
    writeFileSync(`${path}-wal`, wal);
    store = open();
    written = (await store.readSession("s"))?.version ?? 0;
    const events = await store.readEvents({ afterSeq: 0, limit: 1_000 });
    expect(events.map(({ data }) => data["k"])).toEqual(Array.from({ length: written }, (_, n) => n + 1));
    expect(written).toBeLessThanOrEqual(before);
    expect(written, "commits that were acknowledged").toBeGreaterThanOrEqual(acknowledged);
    return before - written;
  }

  return {
    written: () => written,
    acknowledged: () => acknowledged,
    commit: async (durable: boolean) => {
      const k = written + 1;
      const core = { sessionId: "s", createdAt: "", updatedAt: "", waiting: [], run: k, energySpent: 0 };
      await store.commit({
        sessionId: "s",
        owner: "ada",
        expectVersion: written,
        session: { core: { ...core, status: "running" }, cursor: "x".repeat(random(6_000)) },
        events: [{ type: "step-finished", at: "", data: { k } }],
        durable,
      });
      written = k;
      if (durable) acknowledged = k;
    },
    sync: async () => {
      const [covers, during] = [written, store];
      await store.sync();
      // A process that died meanwhile has told nothing.
      if (during === store) acknowledged = Math.max(acknowledged, covers);
    },
    kill: async () => {
      expect(await restart(readFileSync(`${path}-wal`))).toBe(0);
    },
    losePower: async () => {
      const left = torn(onDisk, readFileSync(`${path}-wal`), random);
      onDisk = left;
      return restart(left);
    },
    end: async () => {
      for (const each of stores) await each.close();
    },
  };
}

function torn(onDisk: Buffer, now: Buffer, random: Random): Buffer {
  const length = onDisk.length + random(Math.max(1, now.length - onDisk.length + 1));
  const left = Buffer.alloc(length);
  onDisk.copy(left);
  for (let at = 0; at < length; at += BLOCK_BYTES) {
    // A checkpoint cuts the file; without a sync the disk may still have what lay there.
    if (random(3) > 0 && at < now.length) now.copy(left, at, at, Math.min(at + BLOCK_BYTES, length));
  }
  return left;
}

function freshPath(from: string): string {
  made += 1;
  const folder = join(home, String(made));
  mkdirSync(folder);
  copyFileSync(from, join(folder, "state.db"));
  return join(folder, "state.db");
}

type Random = (end: number) => number;

/** mulberry32 */
function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return (end) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
  };
}
