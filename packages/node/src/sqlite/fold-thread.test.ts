import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type Commit, createMemoryLogger, type StateStore } from "@ergon/core";
import { stateStoreContract } from "@ergon/core/testing";
import { rolldown } from "rolldown";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createBatchWriter, MAX_TAIL_CHARS } from "./batch-writer.ts";
import { createMemoryLog } from "./commit-log.ts";
import { MAX_EXCESS } from "./folding.ts";
import { openDatabase } from "./open-database.ts";
import { openSqliteStateStore } from "./state-store.ts";
import { readTailText } from "./tail-text.ts";
import { createWriteStatements, noteFolded } from "./write-statements.ts";

const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "ergon-fold-"));
const foldModule = join(folder, "fold-worker.mjs");
const paths: string[] = [];

// Bundled, because a thread starts many times as fast so, and this test starts hundreds.
beforeAll(async () => {
  const input = join(import.meta.dirname, "fold-worker.fixture.ts");
  const build = await rolldown({ input, platform: "node" });
  await build.write({ file: foldModule, format: "esm", codeSplitting: false });
  await build.close();
}, 30_000);
afterEach(() => {
  delete process.env["FOLD_FATE"];
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// Each commit is too many for the tail, so that every one of them is folded elsewhere if nobody folds it before.
stateStoreContract("SQLite, folded by another thread", async () => {
  const path = freshPath();
  let store = await ready(path);
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await ready(path);
      return store;
    },
  };
});

describe("a thread that folds", () => {
  it("is what the contract was about", () => {
    expect(paths.map(tasksOf).reduce((sum, tasks) => sum + tasks, 0)).toBeGreaterThan(paths.length * 2);
  });

  it.each([
    { fate: "dies before it folds", warned: 1 },
    { fate: "dies when it has folded", warned: 1 },
    { fate: "breaks at its start", warned: 1 },
    { fate: "is slow", warned: 0 },
    { fate: "tells of trouble meanwhile", warned: Number.POSITIVE_INFINITY },
  ])("loses nothing and does nothing twice when it $fate", { timeout: 20_000 }, async ({ fate, warned }) => {
    process.env["FOLD_FATE"] = fate;
    const logger = createMemoryLogger();
    const path = freshPath();
    const store = openSqliteStateStore({ path, foldModule, maxTailCommits: 0, logger });
    const warnings = (): number => logger.entries().filter(({ level }) => level === "warn").length;
    const tasks = fate === "breaks at its start" ? 0 : 2;
    const commits = await keepBusy(store, () => tasksOf(path) >= tasks && warnings() >= Math.min(warned, 2));
    expect(await whole(store)).toEqual(expected(commits));
    await store.close();
    const again = openSqliteStateStore({ path });
    expect(await whole(again)).toEqual(expected(commits));
    await again.close();
    expect(tasksOf(path)).toBeGreaterThanOrEqual(tasks);
    expect(warnings()).toBe(Number.isFinite(warned) ? warned : tasksOf(path));
  });

  it(
    "that never ends is done without when the store is closed, and what it had is not lost",
    { timeout: 20_000 },
    async () => {
      process.env["FOLD_FATE"] = "never ends";
      const path = freshPath();
      const store = openSqliteStateStore({ path, foldModule, maxTailCommits: 8 });
      const commits = await keepBusy(store, () => tasksOf(path) >= 2);
      expect(tasksOf(path)).toBe(2);
      await store.close();
      const again = openSqliteStateStore({ path });
      expect(await whole(again)).toEqual(expected(commits));
      await again.close();
    },
  );

  it("is refused what somebody else has folded", () => {
    const db = openDatabase({ path: ":memory:" });
    const statements = createWriteStatements(db);
    noteFolded(statements, 0, 5);
    noteFolded(statements, 5, 7);
    for (const after of [0, 5, 8])
      expect(() => noteFolded(statements, after, 9)).toThrow(expect.objectContaining({ code: "store_unavailable" }));
    db.close();
  });

  it("has what was sent to it to itself until it is back", () => {
    const db = openDatabase({ path: ":memory:" });
    const writer = createBatchWriter(db, createMemoryLog());
    const journal = [["0000", "x", ["t", "read", "", 0, AT], null]];
    writer.apply(
      readTailText(JSON.stringify([{ sessionId: "s", owner: "me", core: { status: "running" }, frames: 0, journal }])),
    );
    expect(writer.sendAway()).toMatchObject({ after: 0, upTo: 1 });
    expect(() => writer.fold()).toThrow(/Another thread/);
    expect(writer.back()).toBe(false);
    writer.fold();
    expect(db.prepare("SELECT count(*) AS n FROM journal").get()).toEqual({ n: 1 });
    db.close();
  });

  it("is waited for when what was written meanwhile is far more than the tail may hold", async () => {
    process.env["FOLD_FATE"] = "is slow";
    const path = freshPath();
    const store = await ready(path, {});
    const text = "x".repeat(MAX_TAIL_CHARS);
    const data = { text };
    for (let n = 0; n < MAX_EXCESS * 3; n += 1)
      await store.commit({ ...step(n), events: [{ type: "step-finished", at: AT, data }] });
    expect((await store.readSession("s"))?.version).toBe(MAX_EXCESS * 3);
    expect(await store.lastEventSeq()).toBe(MAX_EXCESS * 3);
    expect(tasksOf(path)).toBeGreaterThan(0);
    await store.close();
  });

  it("shares the database with nobody but its own process", async () => {
    const path = freshPath();
    const store = await ready(path);
    const taken = expect.objectContaining({ code: "store_unavailable", retryable: true }) as Error;
    expect(() => openSqliteStateStore({ path, foldModule })).toThrow(taken);
    expect(() => openSqliteStateStore({ path })).toThrow(taken);
    await store.close();
    const alone = openSqliteStateStore({ path });
    expect(() => openSqliteStateStore({ path, foldModule })).toThrow(taken);
    await alone.close();
    await openSqliteStateStore({ path, foldModule }).close();
  });

  it("is done without where the file system has no memory to share", async () => {
    const path = freshPath();
    mkdirSync(`${path}-shm`);
    const store = openSqliteStateStore({ path, foldModule, maxTailCommits: 0 });
    for (let n = 0; n < 5; n += 1) await store.commit(step(n));
    expect(await whole(store)).toEqual(expected(5));
    expect(tasksOf(path)).toBe(0);
    await store.close();
  });
});

const AT = "2026-01-02T03:04:05.000Z";

function freshPath(): string {
  const path = join(folder, `${String(paths.length + 1)}.db`);
  paths.push(path);
  return path;
}

/** A store whose thread has started: what makes it start belongs to no session and has no number. */
async function ready(path: string, options: { readonly maxTailCommits?: number } = { maxTailCommits: 0 }) {
  const store = openSqliteStateStore({ path, foldModule, ...options });
  const before = tasksOf(path);
  for (let tries = 0; tasksOf(path) === before && tries < 2_000; tries += 1) {
    const many = options.maxTailCommits === undefined ? 600 : 1;
    await Promise.all(Array.from({ length: many }, () => store.commit({ sessionId: "", owner: "me", cursor: CURSOR })));
    await setTimeout(1);
  }
  return store;
}

const CURSOR = { name: "begun", seq: 1 };

/** Commits until the thread has had its tasks, and some more; gives how many. A busy machine takes its time. */
async function keepBusy(store: StateStore, isEnough: () => boolean): Promise<number> {
  let commits = 0;
  while (commits < 40 || (!isEnough() && commits < 900)) {
    await store.commit(step(commits));
    commits += 1;
    await setTimeout(5);
  }
  for (let more = 0; more < 20; more += 1) await store.commit(step(commits + more));
  return commits + 20;
}

function tasksOf(path: string): number {
  return existsSync(`${path}-tasks`) ? readFileSync(`${path}-tasks`, "utf8").length : 0;
}

function step(n: number): Commit {
  const core = { sessionId: "s", createdAt: AT, updatedAt: AT, waiting: [], run: n, energySpent: n };
  const row = { ord: String(n).padStart(4, "0"), scope: "", stepId: "x", toolId: "t", effects: "read" } as const;
  return {
    sessionId: "s",
    owner: "me",
    expectVersion: n,
    session: { core: { ...core, status: "running" }, frames: n },
    context: [{ scope: "", key: `k${String(n)}`, value: { kind: "inline", value: n } }],
    energy: [{ at: AT, cause: "tool", units: 1 }],
    events: [{ type: "step-finished", at: AT, data: { n } }],
    journal: [{ ...row, kind: "start", key: String(n), argsHash: "", request: n, at: AT }],
  };
}

async function whole(store: StateStore): Promise<object> {
  const page = { sessionId: "s", limit: 1_000 };
  return {
    version: (await store.readSession("s"))?.version,
    events: (await store.readEvents({ afterSeq: 0, ...page })).map(({ data }) => data["n"]),
    journal: (await store.readJournal({ order: "oldest", ...page })).map(({ request }) => request),
    context: (await store.readContext("s", [""])).length,
    energy: await store.readEnergy({ sessionId: "s" }),
  };
}

function expected(commits: number): object {
  const numbers = Array.from({ length: commits }, (_, n) => n);
  return {
    version: commits,
    events: numbers,
    journal: numbers,
    context: commits,
    energy: { units: commits, rows: commits },
  };
}
