import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Commit } from "@ergon/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { APPLICATION_ID } from "../open-database.ts";
import { openSqliteStateStore, type SqliteStateStore } from "../state-store.ts";
import { first } from "./0001-first.ts";

const AT = "2026-01-02T03:04:05.000Z";
const LATER = "2026-01-02T03:04:06.000Z";
const BLOB = "b".repeat(64);

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ergon-log-"));
  path = join(folder, "old.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a database of version 1", () => {
  it.each([
    ["in its tables", 2],
    ["partly in its tables and partly in its tail", 1],
    ["in its tail", 0],
  ])("shows the commits that it has %s as if they were made today", async (_, folded) => {
    versionOne(path, folded);
    const old = openSqliteStateStore({ path });
    const today = openSqliteStateStore({ path: join(folder, "new.db") });
    for (const commit of [COMMITS[0], COMMITS[1]]) await today.commit(commit);
    expect(await asUsed(old)).toEqual(await asUsed(today));
    expect(await everything(old)).toEqual(await everything(today));
    for (const store of [old, today]) await store.commit(COMMITS[2]);
    expect(await asUsed(old)).toEqual(await asUsed(today));
    expect(await everything(old)).toEqual(await everything(today));
    await old.close();
    await today.close();
  });

  it("has its tail folded at the first fold, once", async () => {
    versionOne(path, 0);
    const store = openSqliteStateStore({ path });
    expect(counts(copyOf(path))).toEqual({ tail: 2, journal: 0, user_version: 2 });
    expect(await store.verify()).toEqual([]);
    expect(counts(copyOf(path))).toEqual({ tail: 0, journal: 2, user_version: 2 });
    await store.commit(COMMITS[2]);
    expect((await store.readSession("s"))?.version).toBe(3);
    await store.close();
    expect(counts(path)).toEqual({ tail: 0, journal: 3, user_version: 2 });
  });

  it("keeps its tail when the process is killed, before the commits that came after it", async () => {
    versionOne(path, 0);
    const killed = openSqliteStateStore({ path });
    await killed.commit(COMMITS[2]);
    const copy = copyOf(path);
    expect(counts(copyOf(copy))).toEqual({ tail: 2, journal: 0, user_version: 2 });
    const store = openSqliteStateStore({ path: copy });
    expect(await asUsed(store)).toEqual(await asUsed(killed));
    expect(await everything(store)).toEqual(await everything(killed));
    await store.close();
    await killed.close();
    expect(counts(copy)).toEqual({ tail: 0, journal: 3, user_version: 2 });
  });

  it("is refused when its tail no longer reads, and its tail is left as it is", () => {
    versionOne(path, 0);
    const db = new DatabaseSync(path);
    db.exec("UPDATE tail SET commits = '[{' WHERE id = 2");
    db.close();
    for (let tries = 0; tries < 2; tries += 1)
      expect(() => openSqliteStateStore({ path })).toThrow(expect.objectContaining({ code: "store_corrupt" }));
    expect(counts(path)).toMatchObject({ tail: 2, journal: 0 });
  });
});

it("gives every database a log of its own", async () => {
  const ids = await Promise.all(
    ["a.db", "b.db"].map(async (name) => {
      await openSqliteStateStore({ path: join(folder, name) }).close();
      const db = new DatabaseSync(join(folder, name));
      const row = db.prepare("SELECT hex(store_id) AS id, folded FROM log").all();
      db.close();
      return row;
    }),
  );
  expect(ids).toEqual([
    [{ id: expect.stringMatching(/^[0-9A-F]{16}$/), folded: 0 }],
    [{ id: expect.stringMatching(/^[0-9A-F]{16}$/), folded: 0 }],
  ]);
  expect(ids[0]).not.toEqual(ids[1]);
});

/** Three commits: a call begins, it ends and another begins and ends at once, that one's session ends. */
const COMMITS: readonly [Commit, Commit, Commit] = [
  {
    ...written(0),
    session: { ...session(0), planHash: "p0", input: { in: 0 } },
    plan: { hash: "p0", plan: { planId: "p" } as never },
    blobs: [{ ref: { $blob: BLOB, bytes: 1, mediaType: "a/b" }, at: AT }],
    context: [
      { scope: "", key: "a", value: { kind: "inline", value: { deep: [1] } } },
      { scope: "turn", key: "b", implicit: true, value: { kind: "output", ord: "0" } },
    ],
    journal: [
      {
        kind: "start",
        ord: "0",
        scope: "turn",
        stepId: "x",
        toolId: "t",
        effects: "once",
        key: "s:0:amended",
        argsHash: "h",
        request: { n: 0 },
        at: AT,
      },
    ],
  },
  {
    ...written(1),
    journal: [
      { kind: "finish", ord: "0", state: "finished", result: { output: 0 }, at: LATER, energyUnits: 2 },
      {
        kind: "whole",
        ord: "1",
        scope: "",
        toolId: "t",
        effects: "read",
        key: "s:1",
        argsHash: "h",
        request: null,
        at: AT,
        state: "failed",
        result: { output: null },
        finishedAt: LATER,
        energyUnits: 0,
      },
    ],
  },
  {
    ...written(2),
    journal: [
      {
        kind: "start",
        ord: "2",
        scope: "",
        toolId: "t",
        effects: "read",
        key: "s:2",
        argsHash: "",
        request: 2,
        at: AT,
      },
    ],
  },
];

function written(n: number) {
  return {
    sessionId: "s",
    owner: "ada",
    expectVersion: n,
    session: session(n),
    energy: [
      { at: AT, cause: "tool", units: n + 1, toolId: "t", reference: `s:${String(n)}` },
      { at: AT, cause: "model", units: 1 },
    ],
    events: [
      { type: "step-started", at: AT, data: { n } },
      { type: "step-finished", at: AT, data: { n } },
      { type: "step-finished", at: LATER, data: { n } },
    ],
    cursor: { name: "c", seq: n },
  } as const satisfies Commit;
}

function session(n: number) {
  const core = { sessionId: "s", createdAt: AT, updatedAt: AT, waiting: [], run: n, energySpent: n };
  return { core: { ...core, status: "running" as const }, frames: { n } };
}

/** The first two commits as version 1 wrote them, the first `folded` of them in its tables. */
function versionOne(file: string, folded: number): void {
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA journal_mode = WAL; ${first.sql}
    PRAGMA application_id = ${String(APPLICATION_ID)}; PRAGMA user_version = ${String(first.version)};`);
  const intents = ["0", "1"].map((ord) => oldIntent(ord));
  const outcomes = [
    { state: "finished", result: { output: 0 }, finishedAt: LATER, energyUnits: 2 },
    { state: "failed", result: { output: null }, finishedAt: LATER, energyUnits: 0 },
  ];
  const insert = db.prepare("INSERT INTO tail (id, commits) VALUES (?, ?)");
  const tail = [
    {
      ...oldCommit(0),
      planHash: "p0",
      input: { in: 0 },
      plan: { hash: "p0", plan: { planId: "p" } },
      context: [
        ["", "a", false, null, { deep: [1] }],
        ["turn", "b", true, "0"],
      ],
      journal: [["0", intents[0], null]],
      blobs: [{ id: BLOB, bytes: 1, mediaType: "a/b", at: AT }],
    },
    {
      ...oldCommit(1),
      journal: [
        ["0", null, outcomes[0]],
        ["1", intents[1], outcomes[1]],
      ],
    },
  ];
  for (const [n, commit] of tail.entries()) if (n >= folded) insert.run(n + 1, JSON.stringify([commit]));
  if (folded > 0) {
    const newest = folded - 1;
    const { core, frames } = session(newest);
    const units = folded === 1 ? 2 : 5;
    db.prepare("INSERT INTO sessions VALUES (1, 's', 'ada', ?, 'running', ?, ?, ?, ?)").run(
      folded,
      units,
      folded * 2,
      JSON.stringify(core),
      JSON.stringify(frames),
    );
    db.exec(`INSERT INTO session_inputs VALUES (1, 'ada', 'p0', '{"in":0}');
      INSERT INTO plans VALUES ('p0', 'ada', '{"planId":"p"}');
      INSERT INTO context VALUES (1, '', 'a', 'ada', 0, NULL, '{"deep":[1]}'), (1, 'turn', 'b', 'ada', 1, '0', NULL);
      INSERT INTO blobs VALUES ('${BLOB}', 'ada', 1, 'a/b', '${AT}');
      INSERT INTO cursors VALUES ('c', 'ada', ${String(newest)});
      INSERT INTO session_events VALUES (1, ${String(folded * 3)});`);
    const journal = db.prepare("INSERT INTO journal VALUES (?, 1, ?, ?, 'ada', ?, ?)");
    for (let n = 0; n < folded; n += 1) {
      // The first call ends with the second commit.
      const outcome = folded === 2 ? JSON.stringify(outcomes[n]) : null;
      journal.run(n + 1, String(n), n === 0 ? "x" : null, JSON.stringify(intents[n]), outcome);
    }
    const energy = Array.from({ length: folded }, (_, n) => oldCommit(n).energy).flat();
    db.prepare("INSERT INTO energy VALUES (1, 1, 'ada', ?, ?, ?)").run(units, folded * 2, JSON.stringify(energy));
    const events = Array.from({ length: folded }, (_, n) => [1, "ada", oldCommit(n).events]);
    db.prepare("INSERT INTO events VALUES (?, ?, 'ada', ?)").run(folded * 3, folded * 3, JSON.stringify(events));
  }
  db.close();
}

function oldCommit(n: number) {
  const { energy, events, cursor } = written(n);
  return { sessionId: "s", owner: "ada", ...session(n), energy, events, cursor };
}

function oldIntent(ord: string) {
  const { scope, stepId, effects, key, request } =
    ord === "0"
      ? { scope: "turn", stepId: "x", effects: "once", key: "s:0:amended", request: { n: 0 } }
      : { scope: "", stepId: undefined, effects: "read", key: "s:1", request: null };
  return { scope, stepId, toolId: "t", effects, key, argsHash: "h", request, startedAt: AT };
}

/** What is read while a store is in use; most of it without a fold. */
async function asUsed(store: SqliteStateStore): Promise<unknown> {
  return [
    await store.readSession("s"),
    await store.readJournalRow("s", "0"),
    await store.readJournalRow("s", "1"),
    await store.readPlan("p0"),
    await store.readBlobRow(BLOB, "ada"),
    await store.readCursor("c"),
    await store.readEvents({ afterSeq: 0, limit: 100 }),
    await store.readEvents({ afterSeq: 1, sessionId: "s", limit: 100 }),
    await store.lastEventSeq(),
  ];
}

async function everything(store: SqliteStateStore): Promise<unknown> {
  return [
    await store.readJournal({ sessionId: "s", order: "oldest", limit: 10 }),
    await store.readJournal({ sessionId: "s", stepId: "x", order: "oldest", limit: 10 }),
    await store.readContext("s", ["", "turn"]),
    await store.listSessions({ limit: 10 }),
    await store.readEnergy({}),
    await store.readEnergy({ sessionId: "s" }),
    await asUsed(store),
  ];
}

/** Of a database that nobody uses. */
function counts(file: string): object {
  const db = new DatabaseSync(file);
  const count = (table: string): number => Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]);
  const found = { tail: count("tail"), journal: count("journal"), ...db.prepare("PRAGMA user_version").get() };
  db.close();
  return found;
}

let copied = 0;

/** The files as a killed process leaves them. */
function copyOf(file: string): string {
  copied += 1;
  const copy = join(folder, `copy${String(copied)}.db`);
  for (const end of ["", "-wal", "-log0", "-log1"])
    if (existsSync(`${file}${end}`)) copyFileSync(`${file}${end}`, `${copy}${end}`);
  return copy;
}
