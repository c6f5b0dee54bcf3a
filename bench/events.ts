// How many plans are run in a second while so many readers follow /events.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { ownerAccess } from "../test/e2e/owner-access.ts";
import { load, type Load } from "./http.load.ts";
import { median, type Report, whole } from "./report.ts";

const ROUNDS = 3;
const ROUND_MS = 2_000;
const CONNECTIONS = 16;
const SESSIONS_PER_ROUND = 6_000;
const READERS = [3, 50, 500] as const;
const CATCH_UP_MS = 20_000;

const PLAN = {
  planId: "bench",
  startStepId: "add",
  steps: [{ id: "add", type: "tool_call", toolId: "demo::add", arguments: { a: 1, b: 2 } }],
};

export async function run(): Promise<Report> {
  const rounds = READERS.map((): Round[] => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [n, readers] of READERS.entries()) rounds[n]?.push(await oneRound(readers));
  }
  const rate = (n: number): number => median((rounds[n] ?? []).map(({ perSecond }) => perSecond));
  const perCpu = (n: number): number => median((rounds[n] ?? []).map(({ perCpuSecond }) => perCpuSecond));
  return {
    title: "events: plans of one step while readers follow /events (aim: 500 readers 0.8 of 3)",
    columns: [
      "readers",
      "plans/s",
      "of 3 readers",
      "by the server's CPU time",
      "p50 ms",
      "p99 ms",
      "last reader behind by ms",
    ],
    rows: READERS.map((readers, n) => {
      const latencies = (rounds[n] ?? []).flatMap(({ latenciesMs }) => latenciesMs).sort((a, b) => a - b);
      const at = (share: number): string => (latencies[Math.floor(latencies.length * share)] ?? 0).toFixed(1);
      const behind = median((rounds[n] ?? []).map(({ caughtUpMs }) => caughtUpMs));
      const share = (all: (n: number) => number): string => `${(all(n) / all(0)).toFixed(2)}x`;
      return [String(readers), whole(rate(n)), share(rate), share(perCpu), at(0.5), at(0.99), whole(behind)];
    }),
    notes: [
      `${String(CONNECTIONS)} connections post plans, each as fast as it is answered (Prefer: wait). Server, load and readers are three processes on the same cores.`,
      "By the server's CPU time: plans for each second that the server's process used of a processor, which other work on the machine does not change.",
      `Medians of ${String(ROUNDS)} interleaved rounds of ${String(ROUND_MS)} ms, each with a new server and data folder.`,
      "Every reader gets every event; delivery takes a tenth of the event loop's time at most, so under load readers lag behind.",
    ],
  };
}

type Round = Load & { readonly caughtUpMs: number; readonly perCpuSecond: number };

async function oneRound(count: number): Promise<Round> {
  const folder = mkdtempSync(join(tmpdir(), "ergon-bench-"));
  const children: ChildProcess[] = [];
  try {
    const launcher = join(import.meta.dirname, "../apps/ergon/bin/ergon.js");
    const serving = start(children, [launcher, "serve", "--port", "0", "--data", folder]);
    const url = /^ready (\S+)$/.exec(await nextLine(serving))?.[1] ?? "";
    const { pid } = JSON.parse(readFileSync(join(folder, "server.json"), "utf8")) as { readonly pid: number };
    const { token } = ownerAccess(folder);
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const newSession = async (): Promise<string> => {
      const response = await fetch(new URL("/sessions", url), { method: "POST", headers, body: "{}" });
      if (!response.ok) throw new Error(`POST /sessions answered ${String(response.status)}`);
      return ((await response.json()) as { readonly sessionId: string }).sessionId;
    };
    const sessions: string[] = [];
    while (sessions.length < SESSIONS_PER_ROUND)
      sessions.push(...(await Promise.all(Array.from({ length: 50 }, newSession))));
    const reading = start(children, [join(import.meta.dirname, "events.readers.ts"), url, token, String(count)]);
    await nextLine(reading);
    const body = JSON.stringify({ plan: PLAN });
    const usedMs = cpuMs(pid);
    const posted = await load(url, CONNECTIONS, ROUND_MS, () => {
      const id = sessions.pop();
      if (id === undefined) return undefined;
      return { method: "POST", path: `/sessions/${id}/execute-plan`, headers: { ...headers, prefer: "wait=10" }, body };
    });
    const caughtUpMs = await caughtUp(children.at(-1), reading);
    return { ...posted, caughtUpMs, perCpuSecond: (posted.latenciesMs.length * 1_000) / (cpuMs(pid) - usedMs) };
  } finally {
    for (const child of children) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

/** How long after the load the slowest reader had what the quickest had, and nothing more came. */
async function caughtUp(readers: ChildProcess | undefined, lines: Interface): Promise<number> {
  const startMs = performance.now();
  let [least, most, lastMs] = [0, 0, 0];
  while (performance.now() - startMs < CATCH_UP_MS) {
    readers?.stdin?.write("\n");
    const before = least;
    [least = 0, most = 0] = (await nextLine(lines)).split(" ").map(Number);
    if (least > before) lastMs = performance.now() - startMs;
    if (least === most && performance.now() - startMs - lastMs > 1_000) break;
    await new Promise((done) => setTimeout(done, 50));
  }
  if (least !== most) throw new Error(`One reader had ${String(least)} events, another ${String(most)}.`);
  return lastMs;
}

/** What a process, its threads included, has used of the processors; Linux counts in hundredths of a second. */
function cpuMs(pid: number): number {
  const fields =
    readFileSync(`/proc/${String(pid)}/stat`, "utf8")
      .split(") ")[1]
      ?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function start(children: ChildProcess[], args: readonly string[]): Interface {
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"] });
  children.push(child);
  return createInterface({ input: child.stdout }).setMaxListeners(0);
}

async function nextLine(lines: Interface): Promise<string> {
  return await new Promise((resolve, reject) => {
    lines.once("line", resolve);
    lines.once("close", () => reject(new Error("It ended before it said a line.")));
  });
}
