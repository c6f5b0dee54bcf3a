// What the hub adds to a call of a server's tool, next to a bare client of the same SDK at the same server, in one run.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createSystemClock, silentLogger, ToolRegistry } from "@ergon/core";
import { MCPClientManager } from "@ergon/core/spec";
import { isoTime } from "@ergon/core/store-kit";
import { createToolGate, type ToolGate } from "@ergon/core/engine";
import { createMcpConnector, openInvocationLog, openSqliteStateStore, type SqliteStateStore } from "@ergon/node";
import { median, type Report } from "./report.ts";

const CALLS = 2_000;
const WARM_UP = 500;
const CPU_BLOCKS = 9;
const CPU_CALLS = 200;
const STARTS = 7;
const file = join(import.meta.dirname, "hub.server.ts");
const weigh = join(import.meta.dirname, "hub.weigh.ts");
const args = { city: "Oslo", days: 3 };

type Contender = {
  readonly name: string;
  readonly once: () => Promise<unknown>;
  readonly times: number[];
  cpuUs?: number;
};

/** What is measured against what: the bare one first. */
type Pair = readonly [Contender, Contender];
type Pairs = Readonly<Record<"read" | "once" | "web" | "asking", Pair>>;

export async function run(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "ergon-bench-"));
  const clock = createSystemClock();
  const http = await startHttp();
  const store = openSqliteStateStore({
    path: join(folder, "state.db"),
    logger: silentLogger,
  });
  const registry = new ToolRegistry();
  const log = openInvocationLog({
    path: join(folder, "hub.db"),
    clock,
    logger: silentLogger,
    hide: (_, value) => value,
  });
  const connector = createMcpConnector({ logger: silentLogger });
  const manager = new MCPClientManager({ connector, registry, clock, logger: silentLogger, onInvoked: log.add });
  const gate = createToolGate({ registry, clock, logger: silentLogger });
  const clients: Client[] = [];
  try {
    const base = { enabled: true, trusted: true };
    await manager.initialize([
      { ...base, id: "pipe", name: "pipe", command: process.execPath, args: [file, "stdio", "2"] },
      // Each pair has two processes that are called for the first time in it: one that was called more often is faster.
      { ...base, id: "sent", name: "sent", command: process.execPath, args: [file, "stdio", "2"] },
      { ...base, id: "web", name: "web", url: http.url },
    ]);
    const stdio = () => new StdioClientTransport({ command: process.execPath, args: [file, "stdio", "2"] });
    const [plain, asking] = [await connected(clients, stdio()), await connected(clients, stdio(), ASKABLE)];
    const [pipe, sent] = [await connected(clients, stdio()), await connected(clients, stdio())];
    const web = await connected(clients, new StreamableHTTPClientTransport(new URL(http.url)));
    const commit = committer(store);
    await commit();
    const read = { name: "read", arguments: args };
    const pairs: Pairs = {
      read: [
        contender("stdio: bare client", () => pipe.callTool(read)),
        contender("stdio: read, through the gate", caller(gate, "pipe_read")),
      ],
      once: [
        contender("stdio: one durable commit, then the bare client", () => commit().then(() => sent.callTool(read))),
        contender("stdio: once, intent committed before", caller(gate, "sent_once", commit)),
      ],
      web: [
        contender("HTTP: bare client", () => web.callTool(read)),
        contender("HTTP: read, through the gate", caller(gate, "web_read")),
      ],
      asking: [
        contender("stdio: bare client, once more", () => plain.callTool(read)),
        contender("stdio: bare client that asks as the hub does", () => asking.callTool(read, HEARD)),
      ],
    };
    for (const pair of Object.values(pairs)) await take(pair);
    return report(pairs);
  } finally {
    await Promise.all(clients.map((client) => client.close()));
    await manager.close();
    await log.close();
    await store.close();
    http.child.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** They take turns, in another order each time, so that a busy moment of the machine or a warm cache favours none. */
async function take(pair: Pair): Promise<void> {
  for (const { once } of pair) for (let n = 0; n < WARM_UP; n += 1) await once();
  for (let n = 0; n < CALLS; n += 1)
    for (const one of Math.random() < 0.5 ? pair : pair.toReversed()) await measure(one);
  for (const one of pair) one.cpuUs = await processorTime(one);
}

function report({ read, once, web, asking }: Pairs): Report {
  const us = (ms: number) => (ms * 1_000).toFixed(0);
  const row = ({ name, times, cpuUs = 0 }: Contender, beside = ""): string[] => {
    const sorted = times.toSorted((a, b) => a - b);
    const p95 = sorted[Math.floor(sorted.length * 0.95)] ?? 0;
    return [name, us(median(sorted)), us(p95), cpuUs.toFixed(0), beside];
  };
  const rows = ([bare, ours]: Pair, say: (bareMs: number, oursMs: number) => string): string[][] => [
    row(bare),
    row(ours, say(median(bare.times), median(ours.times))),
  ];
  const more = (bareMs: number, oursMs: number): string => `${oursMs < bareMs ? "" : "+"}${us(oursMs - bareMs)} µs`;
  const { tools, rssMb } = inProcess(["weigh"]) as { tools: number; rssMb: number };
  const starts = { alone: [] as number[], hanging: [] as number[] };
  for (let n = 0; n < STARTS; n += 1) {
    for (const how of ["alone", "hanging"] as const)
      starts[how].push((inProcess([how]) as { readyMs: number }).readyMs);
  }
  const [alone, beside] = [median(starts.alone), median(starts.hanging)];
  return {
    title: "hub: a call of a server's tool, next to a bare client of the same SDK",
    columns: ["what", "p50 µs", "p95 µs", "processor µs", "p50 beside bare"],
    rows: [
      ...rows(read, (bareMs, oursMs) => `${more(bareMs, oursMs)} (aim 40)`),
      ...rows(once, (bareMs, oursMs) => `${more(bareMs, oursMs)} (aim 40)`),
      ...rows(web, (bareMs, oursMs) => `${(oursMs / bareMs).toFixed(2)}x (aim 1.15)`),
      ...rows(asking, more),
    ],
    notes: [
      `${String(tools)} tools of 20 servers: RSS grew by ${rssMb.toFixed(1)} MB (aim: under 50).`,
      `A server is there after ${alone.toFixed(0)} ms alone, after ${beside.toFixed(0)} ms beside one that hangs at its start: ${(beside - alone).toFixed(0)} ms later (aim: less than 100).`,
      "The bare clients ask for nothing. The hub says with each call that the user can be asked, and asks for progress, which keeps a long call alive; a server takes longer for whoever does, by as much as the last two rows are apart, and that is part of what the hub adds.",
      `${String(CALLS)} calls of each, the two of a pair taking turns in any order, one at a time; every call of the hub is written to its log, too.`,
    ],
  };
}

function contender(name: string, once: () => Promise<unknown>): Contender {
  return { name, once, times: [] };
}

function caller(gate: ToolGate, toolId: string, before?: () => Promise<unknown>): () => Promise<unknown> {
  const request = { toolId, args, context: {}, caller: { kind: "cli", owner: "me" } as const };
  return async () => {
    const checked = await gate.check(request);
    if (checked.kind !== "allowed") throw new Error(`${toolId} is ${checked.kind}.`);
    await before?.();
    const outcome = await gate.invoke(checked, { idempotencyKey: "k", context: {} });
    if (outcome.kind !== "ok") throw new Error(outcome.error.message);
  };
}

/** What is owed to the disk before a call that may be made only once. */
function committer(store: SqliteStateStore): () => Promise<unknown> {
  const clock = createSystemClock();
  let version = 0;
  return async () => {
    const at = isoTime(clock);
    const core = {
      sessionId: "bench",
      status: "running",
      createdAt: at,
      updatedAt: at,
      waiting: [],
      energySpent: 0,
      run: 1,
    } as const;
    const journal = [
      {
        kind: "start",
        position: `1${String(version).padStart(9, "0")}`,
        scope: "",
        toolId: "pipe_once",
        effects: "once",
        key: "k",
        argsHash: "h",
        request: args,
        at,
      } as const,
    ];
    const session = { core: { ...core, waiting: [] }, cursor: null };
    const receipt = await store.commit({
      sessionId: "bench",
      owner: "me",
      session,
      expectVersion: version,
      journal,
      durable: true,
    });
    ({ version } = receipt);
  };
}

async function measure({ once, times }: Contender): Promise<void> {
  const startedMs = performance.now();
  await once();
  times.push(performance.now() - startedMs);
}

/** Of this process, for one call; it says more than the clock when the machine is busy. */
async function processorTime({ once }: Contender): Promise<number> {
  const blocks: number[] = [];
  for (let block = 0; block < CPU_BLOCKS; block += 1) {
    const before = process.cpuUsage();
    for (let n = 0; n < CPU_CALLS; n += 1) await once();
    const { user, system } = process.cpuUsage(before);
    blocks.push((user + system) / CPU_CALLS);
  }
  return median(blocks);
}

/** As the hub calls: progress is heard, and keeps the call alive. */
const HEARD = { onprogress: () => undefined, resetTimeoutOnProgress: true };

/** What the hub can be asked, too: a server does more for whoever it could ask. */
const ASKABLE = { elicitation: { form: { applyDefaults: true }, url: {} } };

async function connected(
  clients: Client[],
  transport: Parameters<Client["connect"]>[0],
  capabilities: object = {},
): Promise<Client> {
  const client = new Client({ name: "bare", version: "1.0.0" }, { capabilities, versionNegotiation: { mode: "auto" } });
  await client.connect(transport);
  clients.push(client);
  return client;
}

async function startHttp(): Promise<{ readonly url: string; readonly child: ChildProcess }> {
  const child = spawn(process.execPath, [file, "http", "2"], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const url of createInterface({ input: child.stdout })) return { url, child };
  throw new Error("The server ended.");
}

function inProcess(words: readonly string[]): unknown {
  const { stdout, stderr } = spawnSync(process.execPath, ["--expose-gc", weigh, ...words], { encoding: "utf8" });
  const [line] = stdout.trim().split("\n").slice(-1);
  if (line === undefined || line === "") throw new Error(stderr);
  return JSON.parse(line) as unknown;
}
