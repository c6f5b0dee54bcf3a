// What the hub adds to a call of a server's tool, next to a bare client of the same SDK at the same server, in one run.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import {
  createSystemClock,
  createToolGate,
  isoTime,
  MCPClientManager,
  silentLogger,
  type ToolGate,
  ToolRegistry,
} from "@ergon/core";
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

export async function run(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "ergon-bench-"));
  const clock = createSystemClock();
  const http = await startHttp();
  const store = openSqliteStateStore({ path: join(folder, "state.db"), logger: silentLogger });
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
      // Each has a process that is called once a round, as the bare client's is: one that is called more often stays warm.
      { ...base, id: "sent", name: "sent", command: process.execPath, args: [file, "stdio", "2"] },
      { ...base, id: "web", name: "web", url: http.url },
    ]);
    const stdio = () => new StdioClientTransport({ command: process.execPath, args: [file, "stdio", "2"] });
    const deaf = await connected(clients, stdio(), {});
    const pipe = await connected(clients, stdio());
    const web = await connected(clients, new StreamableHTTPClientTransport(new URL(http.url)));
    const commit = committer(store);
    await commit();
    const contenders: Contender[] = [
      {
        name: "stdio: bare client that cannot be asked",
        once: () => deaf.callTool({ name: "read", arguments: args }),
        times: [],
      },
      { name: "stdio: bare client", once: () => pipe.callTool({ name: "read", arguments: args }), times: [] },
      { name: "stdio: read, through the gate", once: caller(gate, "pipe_read"), times: [] },
      { name: "one durable commit", once: commit, times: [] },
      { name: "stdio: once, intent committed before", once: caller(gate, "sent_once", commit), times: [] },
      { name: "HTTP: bare client", once: () => web.callTool({ name: "read", arguments: args }), times: [] },
      { name: "HTTP: read, through the gate", once: caller(gate, "web_read"), times: [] },
    ];
    for (const { once } of contenders) for (let n = 0; n < WARM_UP; n += 1) await once();
    // A B C A B C …, so that a busy moment of the machine does not favour one of them.
    for (let n = 0; n < CALLS; n += 1) for (const contender of contenders) await measure(contender);
    for (const contender of contenders) contender.cpuUs = await processorTime(contender);
    return report(contenders);
  } finally {
    await Promise.all(clients.map((client) => client.close()));
    await manager.close();
    await log.close();
    await store.close();
    http.child.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(contenders: readonly Contender[]): Report {
  const medians = contenders.map(({ times }) => median(times));
  const [deaf = 0, bare = 0, read = 0, commit = 0, once = 0, bareWeb = 0, web = 0] = medians;
  const us = (ms: number) => (ms * 1_000).toFixed(0);
  const beyond = [
    "",
    `+${us(bare - deaf)} µs`,
    `+${us(read - bare)} µs (aim 40)`,
    "",
    `+${us(once - bare - commit)} µs beyond bare and commit (aim 40)`,
    "",
    `${(web / bareWeb).toFixed(2)}x (aim 1.15)`,
  ];
  const { tools, rssMb } = inProcess(["weigh"]) as { tools: number; rssMb: number };
  const alone = Array.from({ length: STARTS }, () => (inProcess(["alone"]) as { readyMs: number }).readyMs);
  const beside = Array.from({ length: STARTS }, () => (inProcess(["hanging"]) as { readyMs: number }).readyMs);
  const later = median(beside) - median(alone);
  return {
    title: "hub: a call of a server's tool, next to a bare client of the same SDK",
    columns: ["what", "p50 µs", "p95 µs", "processor µs", "p50 beside bare"],
    rows: contenders.map(({ name, times, cpuUs = 0 }, at) => {
      const sorted = times.toSorted((a, b) => a - b);
      const p95 = sorted[Math.floor(sorted.length * 0.95)] ?? 0;
      return [name, us(median(sorted)), us(p95), cpuUs.toFixed(0), beyond[at] ?? ""];
    }),
    notes: [
      `${String(tools)} tools of 20 servers: RSS grew by ${rssMb.toFixed(1)} MB (aim: under 50).`,
      `A server is there after ${median(alone).toFixed(0)} ms alone, after ${median(beside).toFixed(0)} ms beside one that hangs at its start: ${later.toFixed(0)} ms later (aim: less than 100).`,
      "The bare clients declare what the hub declares: that their user can be asked. The SDK's server takes longer for such a client, whoever it is; the first row shows by how much.",
      `${String(CALLS)} calls of each, taking turns, one at a time; every call of the hub is written to its log, too.`,
    ],
  };
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
        ord: `1${String(version).padStart(9, "0")}`,
        scope: "",
        toolId: "pipe_once",
        effects: "once",
        key: "k",
        argsHash: "h",
        request: args,
        at,
      } as const,
    ];
    const session = { core: { ...core, waiting: [] }, frames: null };
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

/** What the hub can be asked, too: a server does more for whoever it could ask. */
const ASKABLE = { elicitation: { form: { applyDefaults: true }, url: {} } };

async function connected(
  clients: Client[],
  transport: Parameters<Client["connect"]>[0],
  capabilities: object = ASKABLE,
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
