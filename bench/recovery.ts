// How long the real program takes from its start to its first answer and to its first resumed step, with ten thousand
// open sessions and a million rows of history; and what it holds in memory when as many sessions wait for a person.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { AgenticPlan, Json, SessionStatus } from "@ergon/core";
import type { Commit } from "@ergon/core/store-kit";
import { FIRST_PRINCIPAL, openSqliteStateStore } from "@ergon/node";
import { firstToken } from "../test/e2e/owner-access.ts";
import type { Report } from "./report.ts";

const SESSIONS = 10_000;
const ROWS_PER_SESSION = 100;
const SESSIONS_PER_TURN = 100;
const READY_AIM_MS = 3_000;
const STEP_AIM_MS = 5_000;
const RSS_AIM_MIB = 300;
const POLL_MS = 10;
/** How long after the start the memory is looked at: by then recovery has gone through every session. */
const REST_MS = 3_000;
const AT = "2026-01-02T03:04:05.678Z";
const PLAN_HASH = "bench-recovery";

export async function run(): Promise<Report> {
  const open = await measure("running", { at: "last", index: ROWS_PER_SESSION, state: { kind: "call", attempt: 1 } });
  const message = "Shall it go on?";
  const paused = await measure("paused_on_human", {
    at: "ask",
    index: ROWS_PER_SESSION,
    state: { kind: "human", sinceMs: Date.parse(AT), message },
  });
  const rows = `${String(SESSIONS)} sessions, ${String(SESSIONS * ROWS_PER_SESSION)} rows of history`;
  return {
    title: "recovery: the real program on a full data folder",
    columns: ["what", "came out", "aim"],
    rows: [
      [`ready to answer: ${rows}, all running`, seconds(open.readyMs), `at most ${seconds(READY_AIM_MS)}`],
      ["first session that went on and ended", seconds(open.firstEndMs), `at most ${seconds(STEP_AIM_MS)}`],
      [`ready to answer: ${rows}, all waiting for a person`, seconds(paused.readyMs), ""],
      ["memory of the process then (RSS)", `${paused.rssMib.toFixed(0)} MiB`, `under ${String(RSS_AIM_MIB)} MiB`],
    ],
    notes: [
      "Times from the start of `ergon serve`: process, capabilities, store and server. Ready is an answer to GET /sessions, not only an open port.",
      "The folder is written through the store's own commits, and closed before the program starts.",
    ],
  };
}

type Measured = { readonly readyMs: number; readonly firstEndMs: number; readonly rssMib: number };

async function measure(status: SessionStatus, root: Json): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "ergon-bench-"));
  let child: ChildProcess | undefined;
  try {
    await fill(folder, status, root);
    const startedMs = performance.now();
    const launcher = join(import.meta.dirname, "../apps/ergon/bin/ergon.js");
    child = spawn(process.execPath, [launcher, "serve", "--port", "0", "--data", folder], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const url = await readyUrl(child);
    const headers = { authorization: `Bearer ${firstToken(folder)}` };
    const count = async (filter: string): Promise<number> => {
      const response = await fetch(new URL(`/sessions?limit=1${filter}`, url), { headers });
      if (!response.ok) throw new Error(`GET /sessions answered ${String(response.status)}`);
      return ((await response.json()) as { readonly items: readonly unknown[] }).items.length;
    };
    if ((await count("")) === 0) throw new Error("The program does not know the sessions of its folder.");
    const readyMs = performance.now() - startedMs;
    if (status === "running") while ((await count("&status=completed")) === 0) await rest(POLL_MS);
    const firstEndMs = performance.now() - startedMs;
    if (status !== "running") await rest(REST_MS);
    return { readyMs, firstEndMs, rssMib: rssMib(child.pid ?? 0) };
  } finally {
    child?.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

async function readyUrl(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("The program has no output to read.");
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^ready (\S+)$/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error("The program ended before it was ready.");
}

async function fill(folder: string, status: SessionStatus, root: Json): Promise<void> {
  const store = openSqliteStateStore({ path: join(folder, "state.db") });
  for (let from = 0; from < SESSIONS; from += SESSIONS_PER_TURN) {
    const numbers = Array.from({ length: SESSIONS_PER_TURN }, (_, at) => from + at);
    await Promise.all(numbers.map((n) => store.commit(session(n, status, root))));
  }
  await store.close();
}

function session(n: number, status: SessionStatus, root: Json): Commit {
  const sessionId = `ses_${String(n).padStart(26, "0")}`;
  const call = (index: number) => {
    const position = positionAt(index);
    return {
      position,
      scope: "",
      stepId: index === ROWS_PER_SESSION ? "last" : "again",
      toolId: "demo::add",
      effects: "pure",
      key: `${sessionId}:${position}`,
      argsHash: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      request: { a: index, b: 1 },
      at: AT,
    } as const;
  };
  const done = Array.from({ length: ROWS_PER_SESSION }, (_, index) => ({
    ...call(index),
    kind: "whole" as const,
    state: "finished" as const,
    result: { output: index + 1 },
    finishedAt: AT,
    energyUnits: 0,
  }));
  return {
    sessionId,
    owner: FIRST_PRINCIPAL,
    expectVersion: 0,
    ...(n === 0 ? { plan: { hash: PLAN_HASH, plan: PLAN } } : {}),
    session: {
      core: {
        sessionId,
        status,
        createdAt: AT,
        updatedAt: AT,
        currentPlanId: PLAN.planId,
        waiting: [],
        run: 1,
        energySpent: 0,
      },
      cursor: { version: 2, run: 1, root },
      planHash: PLAN_HASH,
      input: {},
    },
    context: [
      {
        scope: "",
        key: "demo::add_result",
        implicit: true,
        value: { kind: "output", position: positionAt(ROWS_PER_SESSION - 1) },
      },
    ],
    journal: status === "running" ? [...done, { ...call(ROWS_PER_SESSION), kind: "start" }] : done,
    events: [{ type: "session-started", at: AT, data: { planId: PLAN.planId } }],
  };
}

/** One step that went round until it was left for the last, or for a person. */
const PLAN: AgenticPlan = {
  planId: "bench-recovery",
  description: "Adds up.",
  parameters: {},
  startStepId: "again",
  steps: [
    { id: "again", type: "tool_call", toolId: "demo::add", arguments: { a: 1, b: 1 }, nextStepId: "last" },
    { id: "last", type: "tool_call", toolId: "demo::add", arguments: { a: 1, b: 1 } },
    { id: "ask", type: "human_in_the_loop", message: "Shall it go on?", nextStepIdOnInput: "last" },
  ],
};

/** Visit `index` of the first run's own list. */
function positionAt(index: number): string {
  const digits = index.toString(36);
  return `11${String(digits.length)}${digits}`;
}

function rssMib(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${String(pid)}/status`, "utf8"));
  return Number(line?.[1]) / 1_024;
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}
