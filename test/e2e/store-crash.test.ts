import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openFileBlobStore, openSqliteStateStore } from "@ergon/node";
import { createRandom, type Random } from "./store-crash/random.ts";
import { wholeCommit } from "./store-crash/story.ts";

const KILLS = process.env["ERGON_LONG"] === "1" ? 5_000 : 200;
/** One lane works on the disk; the others, where it can be had, in memory: there no sync slows writers or checks. */
const LANES = 3;
const MEMORY = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
/** A lane starts a new database after so many, so that checking stays quick. */
const KILLS_PER_FOLDER = 12;
const MAX_LIFE_MS = 40;

type Writer = ChildProcessByStdio<Writable, Readable, null>;

const homes: string[] = [];
let script: string;
beforeAll(async () => {
  for (let lane = 0; lane < LANES; lane += 1) {
    homes.push(mkdtempSync(join(lane === 0 ? tmpdir() : MEMORY, "ergon-crash-")));
  }
  script = join(homes[0] ?? "", "writer.mjs");
  // Bundled, because a process starts four times as fast so, and this test starts hundreds.
  const build = await rolldown({ input: join(import.meta.dirname, "store-crash/writer.fixture.ts"), platform: "node" });
  await build.write({ file: script, format: "esm" });
  await build.close();
}, 30_000);
afterAll(() => {
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

describe("a writing process that is ended by SIGKILL", () => {
  it(
    `loses no acknowledged commit and leaves none half there, ${String(KILLS)} times`,
    { timeout: 60_000 + KILLS * 500 },
    async () => {
      const left = { kills: KILLS };
      const lanes = await Promise.all(homes.map((home, lane) => runLane(home, lane, left)));
      const total = (count: (lane: Tally) => number): number => lanes.reduce((sum, lane) => sum + count(lane), 0);
      expect(total(({ kills }) => kills)).toBe(KILLS);
      // The kills must fall where something happens, or they show nothing.
      expect(total(({ commits }) => commits)).toBeGreaterThan(KILLS * 4);
      expect(total(({ unheard }) => unheard)).toBeGreaterThan(0);
    },
  );
});

/** `unheard`: commits that were there although their process died before it could say so. */
type Tally = { kills: number; commits: number; unheard: number };

async function runLane(home: string, lane: number, left: { kills: number }): Promise<Tally> {
  const random = createRandom(lane + 1);
  const tally: Tally = { kills: 0, commits: 0, unheard: 0 };
  let next = startWriter();
  for (let round = 0; left.kills > 0; round += 1) {
    const folder = join(home, String(round));
    mkdirSync(folder);
    const acknowledged = new Map<string, number>();
    const known = new Map<string, number>();
    for (let kill = 0; kill < KILLS_PER_FOLDER && left.kills > 0; kill += 1) {
      left.kills -= 1;
      const writer = next;
      next = startWriter();
      await runAndKill(writer, folder, random, acknowledged);
      tally.kills += 1;
      // Now and then the next process meets what two dead ones left.
      if (random.below(4) > 0) tally.unheard += await check(folder, acknowledged, known);
    }
    await check(folder, acknowledged, new Map());
    for (const k of acknowledged.values()) tally.commits += k;
    rmSync(folder, { recursive: true });
  }
  next.stdin.end();
  return tally;
}

function startWriter(): Writer {
  return spawn(process.execPath, [script], { stdio: ["pipe", "pipe", "inherit"] });
}

async function runAndKill(
  writer: Writer,
  folder: string,
  random: Random,
  acknowledged: Map<string, number>,
): Promise<void> {
  let said = "";
  writer.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const gone = once(writer, "close");
  writer.stdin.write(`${folder}\n`);
  // Some die while they open what the one before them left; most while they write.
  if (random.below(8) > 0) await once(writer.stdout, "data");
  await setTimeout(random.below(MAX_LIFE_MS));
  writer.kill("SIGKILL");
  expect(await gone).toEqual([null, "SIGKILL"]);
  const whole = said.slice(0, said.lastIndexOf("\n") + 1);
  for (const [, sessionId = "", k] of whole.matchAll(/^(s\d) (\d+)$/gm)) acknowledged.set(sessionId, Number(k));
}

async function check(folder: string, acknowledged: Map<string, number>, known: Map<string, number>): Promise<number> {
  const store = openSqliteStateStore({ path: join(folder, "state.db") });
  const blobs = openFileBlobStore({ folder: join(folder, "blobs") });
  let unheard = 0;
  for (const sessionId of ["s0", "s1", "s2", "s3"]) {
    const k = await wholeCommit(store, sessionId, known.get(sessionId) ?? 0, blobs);
    const said = acknowledged.get(sessionId) ?? 0;
    expect(k, `${sessionId}: commits that were acknowledged`).toBeGreaterThanOrEqual(said);
    unheard += k - said;
    acknowledged.set(sessionId, k);
    known.set(sessionId, k);
  }
  expect(await store.verify()).toEqual([]);
  await store.close();
  return unheard;
}
