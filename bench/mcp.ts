// What a decision costs over MCP, next to a bare echo tool on the same SDK; how long a start takes; what a loop weighs.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createSystemClock } from "@ergon/core";
import { createLoopIds, createMemoryLoopStore } from "@ergon/core/store-kit";
import { createRefinementLoops, DEFAULT_LOOP_BOUNDS } from "@ergon/core/engine";
import { firstToken } from "../test/e2e/owner-access.ts";
import { load, type Load, type LoadRequest } from "./http.load.ts";
import { openPipe } from "./mcp.pipe.ts";
import { median, type Report, whole } from "./report.ts";

/** Many short rounds that take turns: what else the machine does meets both alike. */
const ROUNDS = 15;
const ROUND_MS = 400;
const WARM_UP_MS = 1_000;
const STARTS = 15;
const VERSION = "2026-07-28";
const launcher = join(import.meta.dirname, "../apps/ergon/bin/ergon.js");
const program = join(import.meta.dirname, "../apps/ergon/dist/cli.js");
const bare = join(import.meta.dirname, "mcp.bare.ts");

export async function run(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "ergon-bench-"));
  const children: ChildProcess[] = [];
  try {
    const served = join(folder, "served");
    const ergonUrl = await start(children, [launcher, "serve", "--port", "0", "--data", served], /^ready (\S+)$/);
    const bareUrl = await start(children, [bare, "http"], /^(http\S+)$/);
    const token = firstToken(served);
    const rows: string[][] = [];
    for (const era of ["2026", "2025"] as const) {
      const ours = await requests(ergonUrl, era, "decide_loop_next_action", { authorization: `Bearer ${token}` });
      const theirs = await requests(bareUrl, era, "echo", {});
      for (const callers of [1, 32]) {
        rows.push(
          ...(await compare(`HTTP, ${era}, ${String(callers)} callers`, {
            bare: (ms) => load(bareUrl, callers, ms, theirs),
            ergon: (ms) => load(ergonUrl, callers, ms, ours),
          })),
        );
      }
    }
    const ours = await openPipe([program, "mcp", "--data", join(folder, "piped")], "decide_loop_next_action");
    const theirs = await openPipe([bare, "stdio"], "echo");
    for (const callers of [1, 32]) {
      rows.push(
        ...(await compare(`stdio, ${String(callers)} callers`, {
          bare: (ms) => theirs.load(callers, ms),
          ergon: (ms) => ours.load(callers, ms),
        })),
      );
    }
    ours.close();
    theirs.close();
    return {
      title: "mcp: decide_loop_next_action next to a bare echo tool on the same SDK",
      columns: ["what", "calls/s (median)", "of bare", "mean ms", "p50 ms", "p99 ms"],
      rows,
      notes: [
        "A bare tool logs nothing, so the 2025 client and the one on stdio set the level to error; by default they also hear of every decision.",
        await startNote(folder),
        await decisionNote(),
        await weightNote(),
      ],
    };
  } finally {
    for (const child of children) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

type Contenders = { readonly bare: (ms: number) => Promise<Load>; readonly ergon: (ms: number) => Promise<Load> };

async function compare(name: string, contenders: Contenders): Promise<string[][]> {
  const rounds = { bare: [] as Load[], ergon: [] as Load[] };
  for (const once of Object.values(contenders)) await once(WARM_UP_MS);
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.bare.push(await contenders.bare(ROUND_MS));
    rounds.ergon.push(await contenders.ergon(ROUND_MS));
  }
  const rate = (of: keyof Contenders): number => median(rounds[of].map(({ perSecond }) => perSecond));
  return (["bare", "ergon"] as const).map((of) => {
    const all = rounds[of].flatMap(({ latenciesMs }) => latenciesMs).sort((a, b) => a - b);
    const at = (share: number): string => (all[Math.floor(all.length * share)] ?? 0).toFixed(2);
    const mean = all.reduce((sum, next) => sum + next, 0) / all.length;
    const share = of === "bare" ? "" : `${(rate("ergon") / rate("bare")).toFixed(2)}x`;
    return [`${name}: ${of}`, whole(rate(of)), share, mean.toFixed(2), at(0.5), at(0.99)];
  });
}

/** The request that is sent again and again, with a session opened for it where the era has them. */
async function requests(
  url: string,
  era: "2025" | "2026",
  tool: string,
  given: Readonly<Record<string, string>>,
): Promise<() => LoadRequest> {
  const always = { ...given, "content-type": "application/json", accept: "application/json, text/event-stream" };
  const post = async (headers: Record<string, string>, body: unknown): Promise<Response> =>
    fetch(new URL("/mcp", url), { method: "POST", headers: { ...always, ...headers }, body: JSON.stringify(body) });
  const meta = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const headersFor = (name: string): Record<string, string> =>
    era === "2025" ? session : { "mcp-protocol-version": VERSION, "mcp-method": "tools/call", "mcp-name": name };
  const bodyFor = (name: string, args: unknown) => ({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name, arguments: args, ...(era === "2025" ? {} : { _meta: meta }) },
  });
  let session: Record<string, string> = {};
  if (era === "2025") {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } };
    const opened = await post({}, { jsonrpc: "2.0", id: 0, method: "initialize", params });
    session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    await opened.text();
  }
  let loopId = "none";
  if (tool !== "echo") {
    const quiet = { jsonrpc: "2.0", id: 2, method: "logging/setLevel", params: { level: "error" } };
    if (era === "2025") await (await post(session, quiet)).text();
    const begun = await post(
      headersFor("initialize_refinement_loop"),
      bodyFor("initialize_refinement_loop", { loop_type: "build_code" }),
    );
    loopId = /"id\\?":\\?"([0-9a-f]{8})/.exec(await begun.text())?.[1] ?? "";
  }
  const body = JSON.stringify(bodyFor(tool, { loop_id: loopId, current_score: 50 }));
  const request: LoadRequest = { method: "POST", path: "/mcp", headers: { ...always, ...headersFor(tool) }, body };
  return () => request;
}

async function startNote(folder: string): Promise<string> {
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, "cache") };
  const measure = async (file: string): Promise<number> => {
    const took: number[] = [];
    for (let n = 0; n <= STARTS; n += 1) {
      const startedMs = performance.now();
      const pipe = await openPipe([file, "mcp", "--data", join(folder, "started")], "list_active_loops", env);
      if (n > 0) took.push(performance.now() - startedMs);
      await pipe.end();
    }
    return median(took);
  };
  const [installed, launched] = [await measure(program), await measure(launcher)];
  return `From spawn to a finished tools/list, median of ${String(STARTS)}: ${whole(installed)} ms with the command that \`mcp install\` writes, ${whole(launched)} ms through the launcher.`;
}

async function decisionNote(): Promise<string> {
  const loops = makeLoops(10);
  const { id } = await loops.initialize({ owner: "bench", loop_type: "build_code" });
  const took: number[] = [];
  for (let n = 0; n < 20_000; n += 1) {
    const startedMs = performance.now();
    await loops.decide({ owner: "bench", loop_id: id, current_score: 50 });
    took.push(performance.now() - startedMs);
  }
  took.sort((a, b) => a - b);
  const at = (share: number): string => ((took[Math.floor(took.length * share)] ?? 0) * 1_000).toFixed(1);
  return `A decision alone, in memory: p50 ${at(0.5)} µs, p99 ${at(0.99)} µs.`;
}

async function weightNote(): Promise<string> {
  const count = 1_000;
  const loops = makeLoops(count);
  const before = heldBytes();
  let lastId = "";
  for (let n = 0; n < count; n += 1) {
    const { id } = await loops.initialize({ owner: "bench", loop_type: "plan" });
    for (let score = 0; score < 100; score += 1) await loops.decide({ owner: "bench", loop_id: id, current_score: 50 });
    lastId = id;
  }
  const bytes = (heldBytes() - before) / count;
  // Asked for afterwards, so that they are still there when they are weighed.
  await loops.decide({ owner: "bench", loop_id: lastId, current_score: 50 });
  return `Memory per loop with 100 scores: ${(bytes / 1_024).toFixed(1)} KB.`;
}

/** What is left when everything that nobody holds is gone. */
function heldBytes(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

function makeLoops(keepPerOwner: number) {
  return createRefinementLoops({
    store: createMemoryLoopStore({ keepPerOwner }),
    clock: createSystemClock(),
    newId: createLoopIds(),
    bounds: DEFAULT_LOOP_BOUNDS,
  });
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
