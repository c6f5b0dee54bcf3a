// How many commits of six rows the SQLite store takes in a second, next to a bare loop of one-row inserts.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Commit, StateStore } from "@ergon/core/store-kit";
import { openSqliteStateStore } from "@ergon/node";
import { median, type Report, whole } from "./report.ts";

const ROUNDS = 9;
const ROUND_MS = 400;
const WARM_UP_MS = 300;
/** `off`: written to the log at every commit, synced by nobody (SQLite's synchronous=NORMAL). */
const SETTINGS = ["fsync each batch", "fsync off"] as const;
type Setting = (typeof SETTINGS)[number];

export async function run(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "ergon-bench-"));
  try {
    const contenders = SETTINGS.flatMap((setting) => [
      { setting, name: "bare loop, one row", rate: (path: string, ms: number) => bareLoop(path, setting, ms) },
      { setting, name: "store, 1 session", rate: (path: string, ms: number) => storeLoop(path, setting, 1, ms) },
      { setting, name: "store, 32 sessions", rate: (path: string, ms: number) => storeLoop(path, setting, 32, ms) },
    ]);
    let made = 0;
    const measure = (rate: (path: string, ms: number) => Promise<number>, ms: number): Promise<number> => {
      made += 1;
      return rate(join(folder, `${String(made)}.db`), ms);
    };
    for (const { rate } of contenders) await measure(rate, WARM_UP_MS);
    // A B C A B C …: a disk's mood changes within seconds, and must not favour one of them.
    const rates = contenders.map((): number[] => []);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [n, { rate }] of contenders.entries()) rates[n]?.push(await measure(rate, ROUND_MS));
    }
    return {
      title: "store: commits of six rows",
      columns: ["setting", "what", "commits/s (median)", "of the bare loop", "slowest and fastest round"],
      rows: contenders.map(({ setting, name }, n) => {
        const own = rates[n] ?? [];
        const bare = rates[contenders.findIndex((other) => other.setting === setting)] ?? [];
        return [
          setting,
          name,
          whole(median(own)),
          `${(median(own) / median(bare)).toFixed(2)}x`,
          `${whole(Math.min(...own))} to ${whole(Math.max(...own))}`,
        ];
      }),
      notes: [
        "A commit writes the session, a context row, the end of one journal row and the start of the next, an energy row and an event.",
        "The bare loop is node:sqlite alone: a prepared one-row insert, WAL, the same synchronous setting, one transaction each.",
        `Median of ${String(ROUNDS)} interleaved rounds of ${String(ROUND_MS)} ms, each in a new database.`,
      ],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function bareLoop(path: string, setting: Setting, ms: number): Promise<number> {
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${setting === "fsync off" ? "NORMAL" : "FULL"};
    CREATE TABLE rows (id INTEGER PRIMARY KEY, session TEXT, body TEXT)`);
  const insert = db.prepare("INSERT INTO rows (session, body) VALUES (?, ?)");
  const body = "x".repeat(200);
  const started = performance.now();
  let done = 0;
  for (; performance.now() - started < ms; done += 1) insert.run("session-1", body);
  const rate = (done / (performance.now() - started)) * 1_000;
  db.close();
  return rate;
}

async function storeLoop(path: string, setting: Setting, sessions: number, ms: number): Promise<number> {
  const store = openSqliteStateStore({ path });
  const durable = setting !== "fsync off";
  const names = Array.from(
    { length: sessions },
    (_, n) => `session_01jgz3v8m4k6q9t2w5x7y0${String(n).padStart(3, "0")}`,
  );
  await Promise.all(names.map((name) => store.commit(step(name, 0, durable))));
  const started = performance.now();
  const counts = await Promise.all(names.map((name) => walk(store, name, durable, started + ms)));
  const rate = (counts.reduce((sum, count) => sum + count, 0) / (performance.now() - started)) * 1_000;
  await store.close();
  return rate;
}

async function walk(store: StateStore, sessionId: string, durable: boolean, until: number): Promise<number> {
  let version = 1;
  for (; performance.now() < until; version += 1) await store.commit(step(sessionId, version, durable));
  return version - 1;
}

const AT = "2026-01-02T03:04:05.678Z";
const TEXT = "The quick brown fox jumps over the lazy dog. ".repeat(4);

/** What an engine writes when one step ends and the next begins. */
function step(sessionId: string, version: number, durable: boolean): Commit {
  const position = positionAt(version);
  return {
    sessionId,
    owner: "local",
    expectVersion: version,
    durable,
    session: {
      core: {
        sessionId,
        status: "running",
        createdAt: AT,
        updatedAt: AT,
        currentPlanId: "bench",
        currentStepId: `step-${String(version % 20)}`,
        waiting: [],
        run: 1,
        energySpent: version,
      },
      cursor: {
        run: 1,
        root: { at: `step-${String(version % 20)}`, index: version, state: { kind: "called", position } },
      },
    },
    context: [
      {
        scope: "",
        key: `demo::tool-${String(version % 10)}_result`,
        implicit: true,
        value: { kind: "output", position },
      },
    ],
    journal: [
      ...(version === 0
        ? []
        : [
            {
              kind: "finish",
              position: positionAt(version - 1),
              state: "finished",
              result: { output: { text: TEXT } },
              at: AT,
              energyUnits: 0.5,
            } as const,
          ]),
      {
        kind: "start",
        position,
        scope: "",
        stepId: `step-${String(version % 20)}`,
        toolId: "demo::tool",
        effects: "read",
        key: `${sessionId}:1:${position}`,
        argsHash: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        request: { name: "fox", limit: 10, filter: { colour: "brown" } },
        at: AT,
      },
    ],
    energy: [{ at: AT, cause: "tool", units: 0.5, toolId: "demo::tool", reference: position }],
    events: [
      { type: "step-finished", at: AT, data: { stepId: `step-${String(version % 20)}`, position, energyUnits: 0.5 } },
    ],
  };
}

function positionAt(n: number): string {
  const digits = n.toString(36);
  return `11${String(digits.length)}${digits}`;
}
