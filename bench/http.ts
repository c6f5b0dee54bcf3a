// How many requests the server answers in a second, next to a bare Fastify route that answers with the same bytes.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ownerAccess } from "../test/e2e/owner-access.ts";
import { load, type Load, type LoadRequest } from "./http.load.ts";
import { median, type Report, whole } from "./report.ts";

const ROUNDS = 7;
const ROUND_MS = 1_000;
const WARM_UP_MS = 1_000;
const CONNECTIONS = 32;
const RUNS_PER_ROUND = 3_000;

const PLAN = {
  planId: "bench",
  startStepId: "add",
  steps: [{ id: "add", type: "tool_call", toolId: "demo::add", arguments: { a: 1, b: 2 } }],
};

export async function run(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "ergon-bench-"));
  const children: ChildProcess[] = [];
  try {
    const launcher = join(import.meta.dirname, "../apps/ergon/bin/ergon.js");
    const ergon = await start(children, [launcher, "serve", "--port", "0", "--data", folder], /^ready (\S+)$/);
    // The token of processes on this folder: others are let in 20,000 times a second at most, and this asks more often.
    const { token } = ownerAccess(folder);
    const headers = { authorization: `Bearer ${token}` };
    const ask = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
      const json = { ...headers, "content-type": "application/json", prefer: "wait=10" };
      const response = await fetch(new URL(path, ergon), {
        method,
        headers: json,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return (await response.json()) as Record<string, unknown>;
    };
    const newSession = async (): Promise<string> => String((await ask("POST", "/sessions", {}))["sessionId"]);
    const id = await newSession();
    const settled = await ask("POST", `/sessions/${id}/execute-plan`, { plan: PLAN });
    const bare = await start(
      children,
      [join(import.meta.dirname, "http.bare.ts"), JSON.stringify(settled)],
      /^(http\S+)$/,
    );

    const get =
      (url: string, path: string): Contender["once"] =>
      (ms) => {
        const request: LoadRequest = { method: "GET", path, headers };
        return load(url, CONNECTIONS, ms, () => request);
      };
    const contenders: readonly Contender[] = [
      { name: "bare Fastify: GET /bare/:id", once: get(bare, `/bare/${id}`) },
      { name: "GET /sessions/:id", once: get(ergon, `/sessions/${id}`) },
      { name: "GET /sessions/:id?view=core", once: get(ergon, `/sessions/${id}?view=core`) },
      { name: "POST execute-plan, Prefer: wait, one step", once: (ms) => runPlans(ergon, headers, newSession, ms) },
    ];
    const rounds = contenders.map((): Load[] => []);
    // Reads side by side, then writes: what a thousand runs leave to tidy up must not fall on the reads of the next round.
    for (const group of [contenders.slice(0, -1), contenders.slice(-1)]) {
      for (const { once } of group) await once(WARM_UP_MS);
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const contender of group) rounds[contenders.indexOf(contender)]?.push(await contender.once(ROUND_MS));
      }
    }
    return report(contenders, rounds);
  } finally {
    for (const child of children) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

type Contender = { readonly name: string; readonly once: (ms: number) => Promise<Load> };

/** Every run in a session of its own, made beforehand: what is measured is the run. */
async function runPlans(
  url: string,
  headers: LoadRequest["headers"],
  newSession: () => Promise<string>,
  ms: number,
): Promise<Load> {
  const sessions: string[] = [];
  while (sessions.length < RUNS_PER_ROUND)
    sessions.push(...(await Promise.all(Array.from({ length: 50 }, newSession))));
  const body = JSON.stringify({ plan: PLAN });
  const all = { ...headers, "content-type": "application/json", prefer: "wait=10" };
  return load(url, CONNECTIONS, ms, () => {
    const id = sessions.pop();
    return id === undefined ? undefined : { method: "POST", path: `/sessions/${id}/execute-plan`, headers: all, body };
  });
}

function report(contenders: readonly Contender[], rounds: readonly (readonly Load[])[]): Report {
  const rate = (n: number): number => median((rounds[n] ?? []).map(({ perSecond }) => perSecond));
  return {
    title: `http: ${String(CONNECTIONS)} connections, each as fast as it is answered`,
    columns: ["what", "requests/s (median)", "of bare Fastify", "p50 ms", "p99 ms"],
    rows: contenders.map(({ name }, n) => {
      const latencies = (rounds[n] ?? []).flatMap(({ latenciesMs }) => latenciesMs).sort((a, b) => a - b);
      const at = (share: number): string => (latencies[Math.floor(latencies.length * share)] ?? 0).toFixed(1);
      return [name, whole(rate(n)), `${(rate(n) / rate(0)).toFixed(2)}x`, at(0.5), at(0.99)];
    }),
    notes: [
      "The load comes from another process on the same two cores. The store is SQLite; a run's start is synced to disk before it is answered.",
    ],
  };
}

async function start(children: ChildProcess[], args: readonly string[], line: RegExp): Promise<string> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  children.push(child);
  for await (const said of createInterface({ input: child.stdout })) {
    const url = line.exec(said)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error(`${args.join(" ")} ended before it was ready.`);
}
