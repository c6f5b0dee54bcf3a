// How soon a message is taken in, and how soon it is answered when the model takes no time: the loop, the stores and HTTP
// of a real server, at rest and while its sub-agent installs a package from npm and tries it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { npmEnvironment } from "@ergon/node";
import { startRegistries } from "../packages/node/src/hub/install/registries.fixture.ts";
import { startScriptedServer } from "../packages/node/src/models/scripted-server.fixture.ts";
import { serveFolder } from "../test/e2e/served.ts";
import type { Report } from "./report.ts";

const MESSAGES = 200;
const AIM_MS = 100;
const LOOP_AIM_MS = 50;
const MEMORY = { name: "@modelcontextprotocol/server-memory", version: "2026.8.31" };
const INSTALL_LIMIT_MS = 180_000;
/** Between two questions of each of three that ask meanwhile. */
const PAUSE_MS = 20;

export async function run(): Promise<Report> {
  const home = mkdtempSync(join(tmpdir(), "ergon-bench-"));
  const respond = JSON.stringify({ tool: "respond", args: { content: "Yes." } });
  const quick = await startScriptedServer([respond]);
  const env = { ERGON_MODEL: "local/quick", ERGON_MODEL_URL: quick.url, ERGON_ENERGY_RATE: "1000" };
  try {
    const rows = await withServer(join(home, "rest"), env, atRest);
    const busy = await installing(home, env);
    return {
      title: `conversations: a message over HTTP (aim at p99: ${String(AIM_MS)} ms for HTTP, ${String(LOOP_AIM_MS)} ms for the loop)`,
      columns: ["what", "p50", "p99", "max"],
      rows: [...rows, ...busy.rows],
      notes: [
        `At rest ${String(MESSAGES)} messages each, one after the other, each a conversation of its own.`,
        ...busy.notes,
      ],
    };
  } finally {
    await quick.close();
    rmSync(home, { recursive: true, force: true });
  }
}

type Ask = (path: string, body?: unknown, wait?: boolean) => Promise<Record<string, unknown>>;
type Rows = Report["rows"];

async function atRest(ask: Ask): Promise<Rows> {
  const taken: number[] = [];
  const answered: number[] = [];
  for (let n = 0; n < MESSAGES; n += 1)
    taken.push(await timed(() => ask("/message", { content: `Question ${String(n)}` })));
  for (let n = 0; n < MESSAGES; n += 1)
    answered.push(await timed(() => ask("/message", { content: `Question ${String(n)}` }, true)));
  return [
    ["taken in (202), answers coming beside it", ...ms(taken)],
    ["asked and answered by a model that takes no time", ...ms(answered)],
    ["the loop, from being woken to having begun what there is", ...(await loopTimes(ask))],
  ];
}

/** The registry of servers is a document of ours; the package and all that it needs come from npm's, into an empty cache. */
async function installing(home: string, env: Env): Promise<{ readonly rows: Rows; readonly notes: readonly string[] }> {
  const registries = await startRegistries();
  const name = "io.github.modelcontextprotocol/server-memory";
  const npm = { registryType: "npm", identifier: MEMORY.name, version: MEMORY.version, transport: { type: "stdio" } };
  registries.addServer({ name, description: "Remembers.", version: MEMORY.version, packages: [npm] });
  const busy = {
    ...npmEnvironment(process.env),
    ...env,
    MCP_CONFIG_PATH: join(home, "mcp-servers.json"),
    ERGON_MCP_REGISTRY: registries.url,
    npm_config_cache: join(home, "npm-cache"),
  };
  try {
    return await withServer(join(home, "busy"), busy, (ask) => whileInstalling(ask, name));
  } finally {
    await registries.close();
  }
}

async function whileInstalling(ask: Ask, serverName: string): Promise<{ rows: Rows; notes: readonly string[] }> {
  const [taken, answered, looked]: [number[], number[], number[]] = [[], [], []];
  const startedMs = performance.now();
  const { requestId } = await ask("/subagent/requests", { type: "add_server", params: { serverName } });
  let status: { readonly state?: string; readonly message?: string } = {};
  const isOver = (): boolean => {
    const { state = "queued" } = status;
    return performance.now() - startedMs > INSTALL_LIMIT_MS || !["queued", "in_progress"].includes(state);
  };
  const keepAsking = async (times: number[], work: () => Promise<unknown>): Promise<void> => {
    while (!isOver()) {
      times.push(await timed(work));
      await sleep(PAUSE_MS);
    }
  };
  await Promise.all([
    keepAsking(taken, () => ask("/message", { content: "Is it taken in?" })),
    keepAsking(answered, () => ask("/message", { content: "Is it answered?" }, true)),
    keepAsking(looked, async () => (status = await ask(`/subagent/requests/${String(requestId)}`))),
  ]);
  const label = `${MEMORY.name}@${MEMORY.version}`;
  if (status.state !== "awaiting_approval")
    return { rows: [], notes: [`${label} could not be installed here: ${status.message ?? "it took too long"}`] };
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  return {
    rows: [
      ["taken in, while the sub-agent installs and tries a server", ...ms(taken)],
      ["asked and answered meanwhile", ...ms(answered)],
      ["its status read meanwhile", ...ms(looked)],
      ["the loop meanwhile", ...(await loopTimes(ask))],
    ],
    notes: [
      `Meanwhile: ${label} with all that it needs, in ${seconds} s; ${[taken, answered, looked].map(({ length }) => String(length)).join(", ")} times.`,
    ],
  };
}

async function loopTimes(ask: Ask): Promise<readonly string[]> {
  const stats = (await ask("/stats"))["conversations"] as { wakeMs: { p50: number; p99: number; max: number } };
  const { p50, p99, max } = stats.wakeMs;
  return [p50, p99, max].map(shown);
}

type Env = Readonly<Record<string, string>>;

async function withServer<T>(data: string, env: Env, work: (ask: Ask) => Promise<T>): Promise<T> {
  const server = await serveFolder(data, { cwd: tmpdir(), env });
  const ask: Ask = async (path, body, wait = false) => {
    const response = await fetch(new URL(path, server.url), {
      method: body === undefined ? "GET" : "POST",
      headers: {
        authorization: `Bearer ${server.token}`,
        "content-type": "application/json",
        ...(wait ? { prefer: "wait=60" } : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await response.json()) as Record<string, unknown>;
  };
  try {
    return await work(ask);
  } finally {
    await server.stop("SIGTERM");
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

function ms(values: readonly number[]): readonly string[] {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return [at(0.5), at(0.99), sorted.at(-1) ?? 0].map(shown);
}

function shown(value: number): string {
  return `${value.toFixed(1)} ms`;
}
