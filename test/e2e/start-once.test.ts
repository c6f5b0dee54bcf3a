import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { finish, start } from "./ergon.ts";
import { CLIENTS, type Connected } from "./mcp-clients.ts";
import { ownFolder } from "./own-folder.ts";
import { processesOn, until } from "./processes.ts";
import { serveFolder, type ServedFolder } from "./served.ts";

const STARTS = 5;
const ORDER = { order: "A-1" };
const ID = "order-A-1";

const folder = ownFolder();
let data: string;
let shop: string;
let options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> };
let capabilities: readonly string[];

beforeEach(() => {
  data = join(folder.path, "data");
  shop = join(folder.path, "shop");
  mkdirSync(shop);
  folder.write(CAPABILITIES);
  options = { cwd: folder.path, env: { SHOP: shop } };
  capabilities = ["--capabilities", join(folder.path, "capabilities")];
});

/** Sends the start from a process that becomes the folder's owner, and gives the run's session once it has ended. */
type Door = (whenAsked: () => Promise<void>) => Promise<unknown>;

const DOORS: Readonly<Record<string, Door>> = {
  HTTP: async (whenAsked) => {
    const server = await serve();
    const asked = post(server, "/runs", { planId: "order", input: ORDER, id: ID }, { prefer: "wait=60" });
    await Promise.race([whenAsked(), asked.catch(() => undefined)]);
    return coreOf(await asked)["sessionId"];
  },
  "the command line": async (whenAsked) => {
    const typed = ["run", "order", "--id", ID, "--input", JSON.stringify(ORDER), "--json", "--data", data];
    const child = start([...typed, ...capabilities], options);
    child.stdin.end();
    const ended = finish(child);
    await Promise.race([whenAsked(), ended]);
    const { out, err, code } = await ended;
    if (code !== 0) throw new Error(err);
    return (JSON.parse(out) as Record<string, unknown>)["sessionId"];
  },
  "MCP over stdio": (whenAsked) => runPlanTool(connect(["--name", "shop"]), whenAsked),
  "MCP over HTTP": async (whenAsked) => {
    const { url, token } = await serve();
    return await runPlanTool(CLIENTS["SDK v2, 2026"]({ kind: "http", url, token }), whenAsked);
  },
};

describe(`a start that is sent ${String(STARTS)} times, with SIGKILLs between`, () => {
  it.each([
    ...Object.keys(DOORS).map((name) => [name, Array.from({ length: STARTS }, () => name)] as const),
    ["all of them", ["HTTP", "MCP over HTTP", "the command line", "MCP over HTTP", "HTTP"]] as const,
  ])("is one run and one effect, through %s", { timeout: 240_000 }, async (_, doors) => {
    for (const [at, name] of doors.slice(0, -1).entries()) {
      const reserved = linesOf("reserved").length;
      const killed = doorOf(name)(async () => {
        // One in two dies as soon as it was asked, the others with the run under way.
        if (at % 2 === 0) await until("the run is under way", () => linesOf("reserved").length > reserved);
        else await sleep(at * 20);
        await killOwner();
      });
      expect(await isCutOff(killed)).toBe(true);
      expect(processesOn(data)).toEqual([]);
    }
    writeFileSync(join(shop, "open"), "");
    const sessionId = await doorOf(doors.at(-1) ?? "")(async () => undefined);
    expect(sessionId).toMatch(/^ses_/);
    await killOwner();

    expect(await doorOf(doors[0] ?? "")(async () => undefined)).toBe(sessionId);
    await killOwner();

    expect(linesOf("charged")).toEqual([{ order: "A-1" }]);
    const sessions = rowsOf("SELECT core FROM sessions").map(({ core }) => JSON.parse(String(core)) as unknown);
    expect(sessions).toMatchObject([{ sessionId, runId: ID, status: "completed", run: 1 }]);
    expect(rowsOf("SELECT tool_id AS tool FROM journal ORDER BY ord").map(({ tool }) => tool)).toEqual([
      "shop::reserve",
      "shop::charge",
    ]);
  });
});

it("refuses an id that another input has, through every door, and does nothing", { timeout: 120_000 }, async () => {
  writeFileSync(join(shop, "open"), "");
  const server = await serve();
  await post(server, "/runs", { planId: "order", input: ORDER, id: ID }, { prefer: "wait=60" });
  const other = { order: "B-2" };
  const refused = await fetch(new URL("/runs", server.url), request(server, { planId: "order", input: other, id: ID }));
  expect([refused.status, ((await refused.json()) as Record<string, unknown>)["code"]]).toEqual([409, "run_conflict"]);
  const typed = start(["run", "order", "--id", ID, "--input", JSON.stringify(other), "--data", data], options);
  typed.stdin.end();
  expect(await finish(typed)).toMatchObject({ code: 2, err: expect.stringContaining("another input") });
  const { call, close } = await connect();
  expect(await call("plan_order", other, { meta: { "ergon/id": "an id" } })).toMatchObject({
    isError: true,
    structured: { code: "input_invalid" },
  });
  // Each process of a client is a principal of its own, whose ids are not those of others.
  const own = { id: ID, planId: "order" };
  expect(await call("run_plan", { ...own, input: other })).toMatchObject({ isError: false, structured: { runId: ID } });
  expect(await call("run_plan", { ...own, input: ORDER })).toMatchObject({
    isError: true,
    structured: { code: "run_conflict" },
  });
  await close();
  await server.stop("SIGTERM");
  expect(linesOf("charged").map(({ order }) => order)).toEqual(["A-1", "B-2"]);
});

describe("an Idempotency-Key", () => {
  it(
    "holds after a SIGKILL: the same request gets its first answer, another one 409",
    { timeout: 120_000 },
    async () => {
      const key = { "idempotency-key": "k-1" };
      const run = { planId: "order", input: ORDER };
      const first = await serve();
      const core = coreOf(await post(first, "/runs", run, key));
      const called = await post(first, "/tools/shop::charge/call", { args: ORDER }, { "idempotency-key": "k-2" });
      await killOwner();
      const second = await serve();
      expect(coreOf(await post(second, "/runs", run, key))).toEqual(core);
      expect(await post(second, "/tools/shop::charge/call", { args: ORDER }, { "idempotency-key": "k-2" })).toEqual(
        called,
      );
      const other = request(second, { ...run, input: { order: "B-2" } }, key);
      expect((await fetch(new URL("/runs", second.url), other)).status).toBe(409);
      expect((await get(second, "/sessions?status=running"))["items"]).toHaveLength(1);
      expect(linesOf("charged")).toHaveLength(1);
      await second.stop("SIGTERM");
    },
  );

  it("calls a tool of effects once no second time, whose owner died in the call", { timeout: 120_000 }, async () => {
    writeFileSync(join(shop, "hold"), "");
    const key = { "idempotency-key": "k" };
    const dying = await serve();
    const lost = post(dying, "/tools/shop::charge/call", { args: ORDER }, key);
    await until("the tool was called", () => linesOf("charged").length === 1);
    await killOwner();
    expect(await isCutOff(lost)).toBe(true);
    const server = await serve();
    const again = await fetch(new URL("/tools/shop::charge/call", server.url), request(server, { args: ORDER }, key));
    expect(again.status).toBe(502);
    expect(await again.json()).toMatchObject({ code: "outcome_unknown" });
    expect(linesOf("charged")).toHaveLength(1);
    await server.stop("SIGTERM");
  });
});

/** Each door tells in its own words that the process was killed. */
function isCutOff(asked: Promise<unknown>): Promise<boolean> {
  return asked.then(
    () => false,
    () => true,
  );
}

function doorOf(name: string): Door {
  const door = DOORS[name];
  if (door === undefined) throw new Error(`There is no door "${name}".`);
  return door;
}

function serve(): Promise<ServedFolder> {
  return serveFolder(data, { ...options, args: capabilities });
}

function connect(args: readonly string[] = []): Promise<Connected> {
  return CLIENTS["SDK v2, 2026"]({ kind: "stdio", data, args: [...args, ...capabilities], ...options });
}

async function runPlanTool(connecting: Promise<Connected>, whenAsked: () => Promise<void>): Promise<unknown> {
  const { call, close } = await connecting;
  try {
    const asked = call("plan_order", ORDER, { meta: { "ergon/id": ID } });
    await Promise.race([whenAsked(), asked.catch(() => undefined)]);
    return (await asked).structured["sessionId"];
  } finally {
    await close();
  }
}

function rowsOf(sql: string): readonly Record<string, unknown>[] {
  const db = new DatabaseSync(join(data, "state.db"), { readOnly: true });
  const rows = db.prepare(sql).all();
  db.close();
  return rows;
}

async function killOwner(): Promise<void> {
  for (const { pid } of processesOn(data)) process.kill(pid, "SIGKILL");
  await until("nothing runs on the folder", () => processesOn(data).length === 0);
}

function request(server: ServedFolder, body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit {
  const authorization = `Bearer ${server.token}`;
  return {
    method: "POST",
    headers: { authorization, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

async function post(
  server: ServedFolder,
  path: string,
  body: unknown,
  headers?: Readonly<Record<string, string>>,
): Promise<Record<string, unknown>> {
  const response = await fetch(new URL(path, server.url), request(server, body, headers));
  const answer = (await response.json()) as Record<string, unknown>;
  if (!response.ok) throw new Error(JSON.stringify(answer));
  return answer;
}

async function get(server: ServedFolder, path: string): Promise<Record<string, unknown>> {
  const response = await fetch(new URL(path, server.url), { headers: { authorization: `Bearer ${server.token}` } });
  return (await response.json()) as Record<string, unknown>;
}

function coreOf(answer: Record<string, unknown>): Record<string, unknown> {
  return answer["core"] as Record<string, unknown>;
}

function linesOf(log: string): readonly Record<string, unknown>[] {
  const path = join(shop, `${log}.jsonl`);
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

const parameters = `{ type: "object", properties: { order: { type: "string" } }, required: ["order"] }`;

const CAPABILITIES = {
  "capabilities/reserve.tool.js": `
import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
export const definition = { id: "shop::reserve", description: "Reserves an order.", parameters: ${parameters}, effects: "idempotent" };
export async function implementation({ order }, { signal }) {
  appendFileSync(process.env.SHOP + "/reserved.jsonl", JSON.stringify({ order }) + "\\n");
  while (!existsSync(process.env.SHOP + "/open")) await sleep(5, undefined, { signal });
  return { reserved: order };
}
`,
  "capabilities/charge.tool.js": `
import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
export const definition = { id: "shop::charge", description: "Charges an order.", parameters: ${parameters}, effects: "once" };
export async function implementation({ order }, { signal }) {
  appendFileSync(process.env.SHOP + "/charged.jsonl", JSON.stringify({ order }) + "\\n");
  while (existsSync(process.env.SHOP + "/hold")) await sleep(5, undefined, { signal });
  return { charged: order };
}
`,
  "capabilities/order.plan.json": JSON.stringify({
    planId: "order",
    description: "Reserves and charges an order.",
    parameters: { type: "object", properties: { order: { type: "string" } }, required: ["order"] },
    startStepId: "reserve",
    steps: [
      {
        id: "reserve",
        type: "tool_call",
        toolId: "shop::reserve",
        arguments: { order: { jsonPath: "$.promptInput.order" } },
        nextStepId: "charge",
      },
      {
        id: "charge",
        type: "tool_call",
        toolId: "shop::charge",
        arguments: { order: { jsonPath: "$.promptInput.order" } },
        nextStepId: "done",
      },
      { id: "done", type: "final_response", message: "done" },
    ],
  }),
};
