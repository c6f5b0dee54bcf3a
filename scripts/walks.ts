/*
 * npm run walks: how many of our files four requests need, and how many HTTP requests one of them costs.
 *
 * A file counts when it is a source of packages, apps or capabilities, no test, and a function other than the module
 * body ran in it, by V8's precise block coverage. Functions that run while a module loads count too: what a command loads
 * and calls is what it costs. The sources run as they are (.ts), in processes of their own; all processes that a command
 * starts count together. A request to a server counts from the moment it is sent until it is answered: the counters are
 * reset before it, so that neither the start nor earlier requests count. HTTP requests count when the owner has their
 * head. `--list` prints the files and requests of each walk.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { z } from "zod";

type Walk = {
  readonly name: string;
  readonly unit: string;
  readonly aim: number;
  readonly measured: readonly string[];
};
type Server = {
  readonly child: ChildProcessByStdio<null, Readable, null>;
  readonly url: string;
  readonly coverage: string;
  readonly data: string;
  /** A file with a line for each HTTP request that it was sent. */
  readonly requests: string;
};

const COVERAGE_WAIT_MS = 30_000;
const COVERAGE_POLL_MS = 20;
/** Runs by the clock, whether there is a call or not. */
const LIVENESS_PROBE = "GET /healthz";
const TOKEN = "a-token-for-the-walks-of-this-script";
const root = join(import.meta.dirname, "..");
const cli = join(root, "apps/ergon/src/cli.ts");
const sources = pathToFileURL(root).href;
const isOurs = (url: string): boolean =>
  /^\/(?:packages|apps|capabilities)\/(?!.*(?:node_modules|\/testing\/|\/dist\/|\.test\.|\.fixture\.))/.test(
    url.startsWith(sources) ? url.slice(sources.length) : "",
  );

const Profile = z.object({
  result: z.array(
    z.object({
      url: z.string(),
      functions: z.array(
        z.object({
          functionName: z.string(),
          ranges: z.array(z.object({ startOffset: z.number(), count: z.number() })),
        }),
      ),
    }),
  ),
});

const PLAN = {
  planId: "walk",
  description: "Greets, asks a person, greets again.",
  parameters: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  startStepId: "greet",
  steps: [
    greet("greet", "ask"),
    {
      id: "ask",
      type: "human_in_the_loop",
      message: "Once more?",
      inputSchema: { type: "object", properties: { more: { type: "boolean" } }, required: ["more"] },
      saveAs: "verdict",
      nextStepIdOnInput: "again",
    },
    greet("again"),
  ],
};

const ERASE = `
export const definition = {
  id: "walk::erase",
  description: "Erases a drawer.",
  destructiveHint: true,
  effects: "idempotent",
  parameters: { type: "object", properties: { drawer: { type: "string" } }, required: ["drawer"] },
};
export const implementation = async ({ drawer }) => ({ erased: drawer });
`;

/** The counters can only be reset in the server itself; requests are counted where Node takes them, streams included. */
const HOOK = `
import { appendFileSync } from "node:fs";
import { subscribe } from "node:diagnostics_channel";
import v8 from "node:v8";
process.on("SIGUSR2", () => v8.takeCoverage());
subscribe("http.server.request.start", ({ request }) =>
  appendFileSync(process.env.WALKS_REQUESTS, request.method + " " + request.url + "\\n"));
`;

const home = mkdtempSync(join(tmpdir(), "ergon-walks-"));
try {
  mkdirSync(join(home, "caps"));
  writeFileSync(join(home, "caps/walk.plan.json"), JSON.stringify(PLAN));
  writeFileSync(join(home, "caps/erase.tool.js"), ERASE);
  report([
    {
      name: "ergon run, 3 steps, one human",
      unit: "files",
      aim: 200,
      measured: await command(["run", join(home, "caps/walk.plan.json"), "--input", '{"name":"Ada"}'], 3),
    },
    { name: "POST /tools/:id/call with approval", unit: "files", aim: 110, measured: await toolCall() },
    { name: "ergon ask, offline", unit: "files", aim: 230, measured: await command(["ask", "greet Ada"], 0) },
    { name: "MCP plan call beside an owner", unit: "HTTP requests", aim: 3, measured: await planCallBesideOwner() },
  ]);
} finally {
  rmSync(home, { recursive: true, force: true });
}

function report(walks: readonly Walk[]): void {
  for (const { name, unit, aim, measured } of walks) {
    const verdict = measured.length <= aim ? "met" : "missed";
    console.log(
      `${name.padEnd(36)} ${String(measured.length).padStart(4)} ${unit} (aim: at most ${String(aim)}, ${verdict})`,
    );
    if (process.argv.includes("--list")) for (const one of measured) console.log(`  ${one}`);
  }
}

/** The files of a command line, from its start to its end. */
async function command(args: readonly string[], expectedExit: number): Promise<string[]> {
  const coverage = mkdtempSync(join(home, "coverage-"));
  const child = spawn(process.execPath, [cli, ...args, "--data", mkdtempSync(join(home, "data-"))], {
    cwd: home,
    env: environment(coverage),
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [said] = await Promise.all([text(child.stderr), once(child, "close")]);
  if (child.exitCode !== expectedExit)
    throw new Error(`ergon ${args.join(" ")} ended with ${String(child.exitCode)}: ${said}`);
  return filesIn(readdirSync(coverage).map((name) => join(coverage, name)));
}

async function toolCall(): Promise<string[]> {
  const server = await serve();
  try {
    await tokened(`${server.url}/tools`);
    await takeCoverage(server);
    const before = new Set(readdirSync(server.coverage));
    const answer = await tokened(`${server.url}/tools/${encodeURIComponent("walk::erase")}/call`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ args: { drawer: "top" } }),
    });
    if (answer.status !== 202) throw new Error(`The call was answered with ${String(answer.status)}, not 202.`);
    await takeCoverage(server);
    const after = readdirSync(server.coverage).filter((name) => !before.has(name));
    return filesIn(after.map((name) => join(server.coverage, name)));
  } finally {
    await stop(server);
  }
}

/** What the owner answered while a client called a plan at an `ergon mcp` that does not own the folder. */
async function planCallBesideOwner(): Promise<string[]> {
  const server = await serve();
  const client = new Client({ name: "walks", version: "1.0.0" }, { capabilities: {} });
  try {
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [cli, "mcp", ...folders(server.data)],
        cwd: home,
        env: environment(),
        stderr: "ignore",
      }),
    );
    await client.listTools();
    const { length: before } = requestsOf(server);
    const { isError } = await client.callTool({ name: "plan_walk", arguments: { name: "Ada" } });
    if (isError === true) throw new Error("The plan could not be called.");
    return requestsOf(server)
      .slice(before)
      .filter((request) => request !== LIVENESS_PROBE);
  } finally {
    await client.close();
    await stop(server);
  }
}

function requestsOf({ requests }: Server): string[] {
  return existsSync(requests) ? readFileSync(requests, "utf8").trimEnd().split("\n") : [];
}

async function serve(): Promise<Server> {
  const data = mkdtempSync(join(home, "data-"));
  const coverage = mkdtempSync(join(home, "coverage-"));
  const requests = join(data, "..", `requests-${String(process.hrtime.bigint())}`);
  const flags = ["--import", `data:text/javascript,${encodeURIComponent(HOOK)}`];
  const child = spawn(process.execPath, [...flags, cli, "serve", "--port", "0", ...folders(data)], {
    cwd: home,
    env: { ...environment(coverage), ERGON_TOKEN: TOKEN, WALKS_REQUESTS: requests },
    stdio: ["ignore", "pipe", "ignore"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /^ready (http:\/\/\S+)$/.exec(line) ?? [];
    if (url !== undefined) return { child, url, coverage, data, requests };
  }
  throw new Error("The server ended before it was ready.");
}

async function stop({ child }: Server): Promise<void> {
  const closed = once(child, "close");
  child.kill("SIGTERM");
  await closed;
}

/** Writes what ran so far and resets the counters. */
async function takeCoverage({ child, coverage }: Server): Promise<void> {
  const before = readdirSync(coverage).length;
  child.kill("SIGUSR2");
  const deadline = Date.now() + COVERAGE_WAIT_MS;
  while (!readdirSync(coverage).slice(before).length || !isWhole(coverage)) {
    if (Date.now() > deadline) throw new Error("The server wrote no coverage.");
    await sleep(COVERAGE_POLL_MS);
  }
}

function isWhole(coverage: string): boolean {
  return readdirSync(coverage).every((name) => readFileSync(join(coverage, name), "utf8").endsWith("}"));
}

async function tokened(url: string, init: RequestInit = {}): Promise<Response> {
  const { headers, ...rest } = init;
  return fetch(url, { ...rest, headers: { ...(headers as Record<string, string>), authorization: `Bearer ${TOKEN}` } });
}

function filesIn(profiles: readonly string[]): string[] {
  const found = new Set<string>();
  for (const path of profiles) {
    for (const { url, functions } of Profile.parse(JSON.parse(readFileSync(path, "utf8"))).result) {
      const ran = functions.some(
        ({ functionName, ranges: [whole] }) =>
          whole !== undefined && whole.count > 0 && !(functionName === "" && whole.startOffset === 0),
      );
      if (ran && isOurs(url)) found.add(fileURLToPath(url).slice(root.length + 1));
    }
  }
  return [...found].sort();
}

function folders(data: string): string[] {
  return ["--data", data, "--capabilities", join(home, "caps")];
}

function environment(coverage?: string): Record<string, string> {
  const named = ["PATH", "HOME", "TMPDIR"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const own = { XDG_STATE_HOME: join(home, "state"), ERGON_LOG: "warn" };
  return { ...Object.fromEntries(named), ...own, ...(coverage === undefined ? {} : { NODE_V8_COVERAGE: coverage }) };
}

function greet(id: string, nextStepId?: string): object {
  const args = { who: { jsonPath: "$.promptInput.name" } };
  const next = nextStepId === undefined ? {} : { nextStepId };
  return { id, type: "tool_call", toolId: "demo::greet", arguments: args, saveAs: id, ...next };
}
