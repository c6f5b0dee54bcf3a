import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ConversationView } from "@ergon/core/schema";
import type { SubAgentStatus } from "@ergon/core/hub";
import { openSqliteConversationStore, openSubAgentRequests } from "@ergon/node";
import { type Registries, startRegistries } from "../../packages/node/src/hub/install/registries.fixture.ts";
import { type ScriptedRequest, startScriptedServer } from "../../packages/node/src/models/scripted-server.fixture.ts";
import { DOORS, ergon, plainEnvironment, temporaryFolder } from "./ergon.ts";
import { CLIENTS } from "./mcp-clients.ts";
import { processesOn } from "./processes.ts";
import { type ServedFolder, serveFolder } from "./served.ts";

const NOTES = "io.github.someone/server-notes";
const PACKAGE = "@someone/server-notes";
const SLOW = { timeout: 90_000, interval: 50 };
const open: { readonly close: () => Promise<unknown> }[] = [];
let folder: ReturnType<typeof temporaryFolder>;
let registries: Registries;
let server: ServedFolder;

beforeEach(async () => {
  folder = temporaryFolder();
  registries = await startRegistries();
  const npm = { registryType: "npm", identifier: PACKAGE, version: "1.0.0", transport: { type: "stdio" } };
  registries.addServer({ name: NOTES, description: "Keeps notes.", version: "1.0.0", packages: [npm] });
  await registries.addPackage({ name: PACKAGE, version: "1.0.0", mcpName: NOTES });
});

afterEach(async () => {
  for (const { close } of open.splice(0)) await close();
  await server.stop("SIGTERM");
  await registries.close();
  folder.remove();
});

function options(more: Readonly<Record<string, string>> = {}) {
  return {
    cwd: folder.path,
    env: {
      MCP_CONFIG_PATH: config(),
      ERGON_MCP_REGISTRY: registries.url,
      npm_config_registry: registries.url,
      npm_config_cache: join(folder.path, "npm-cache"),
      XDG_STATE_HOME: join(folder.path, "state"),
      ...more,
    },
  };
}

const config = (): string => join(folder.path, "mcp-servers.json");
const data = (): string => join(folder.path, "data");

async function serve(more?: Readonly<Record<string, string>>): Promise<void> {
  server = await serveFolder(data(), options(more));
}

async function ask(
  method: string,
  path: string,
  { body, token = server.token, wait }: { readonly body?: unknown; readonly token?: string; readonly wait?: true } = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...(wait ? { prefer: "wait=60" } : {}),
  };
  const response = await fetch(new URL(path, server.url), {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const post = (path: string, body: unknown) => ask("POST", path, { body });
const callTool = (id: string, args: object) => post(`/tools/${id}/call`, { args });

async function requestNotes(): Promise<string> {
  const { status, body } = await post("/subagent/requests", { type: "add_server", params: { serverName: NOTES } });
  expect(status).toBe(202);
  return String(body["requestId"]);
}

async function reached(requestId: string, state: string): Promise<SubAgentStatus> {
  return vi.waitFor(async () => {
    const { body } = await ask("GET", `/subagent/requests/${requestId}`);
    expect(`${String(body["state"])} ${String(body["message"])}`).toContain(state);
    return body as SubAgentStatus;
  }, SLOW);
}

async function pendingApproval(): Promise<string> {
  const [approval] = (await ask("GET", "/approvals?state=pending")).body["items"] as { id: string }[];
  return approval?.id ?? "none is pending";
}

async function say(content: string, conversationId?: string): Promise<ConversationView> {
  const { body } = await post("/message", { content, ...(conversationId === undefined ? {} : { conversationId }) });
  const path = `/conversations/${String(body["conversationId"])}`;
  return (await ask("GET", path, { wait: true })).body as ConversationView;
}

const answersIn = ({ history }: ConversationView): readonly string[] =>
  history.flatMap(({ body }) => (body.kind === "response" ? [body.content] : []));
const call = (tool: string, args: object): string => JSON.stringify({ tool, args });
const promptOf = ({ body }: ScriptedRequest): string => body.messages?.at(-1)?.content ?? "";

/** In a chat on a terminal, until it shows what comes of the yes. */
async function sayYesInChat(conversationId: string, answer: string): Promise<void> {
  const command = [process.execPath, DOORS.built, "chat", "--conversation", conversationId, "--data", data()];
  const { cwd, env } = options();
  const child = spawn("script", ["-qec", command.join(" "), "/dev/null"], {
    cwd,
    env: { ...plainEnvironment(), ...env },
  });
  let shown = "";
  child.stdout.on("data", (chunk: Buffer) => (shown += chunk.toString()));
  const closed = once(child, "close");
  await vi.waitFor(() => expect(shown).toContain("May it? yes or no"), SLOW);
  child.stdin.write("yes\r");
  await vi.waitFor(() => expect(shown).toContain(answer), SLOW);
  child.stdin.write("\u0004");
  await closed;
}

async function toolIds(): Promise<readonly string[]> {
  return ((await ask("GET", "/tools")).body["items"] as { id: string }[]).map(({ id }) => id);
}

/** How a request went, as the stream of events tells it, up to a state. */
async function toldUntil(requestId: string, state: SubAgentStatus["state"]): Promise<readonly SubAgentStatus[]> {
  const stop = new AbortController();
  const headers = { authorization: `Bearer ${server.token}` };
  const stream = await fetch(new URL("/events?after=0", server.url), { headers, signal: stop.signal });
  const told: SubAgentStatus[] = [];
  let text = "";
  for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString("utf8");
    const whole = text.split("\n\n");
    text = whole.pop() ?? "";
    for (const event of whole.filter((one) => one.includes("event: subagent-progressed"))) {
      const { data: status } = JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? "{}") as { data: SubAgentStatus };
      if (status.requestId === requestId) told.push(status);
    }
    if (told.at(-1)?.state === state) break;
  }
  stop.abort();
  return told;
}

describe("a request to the sub-agent", { timeout: 240_000 }, () => {
  it("is made in a conversation, which uses the new tools once a person agrees, and after a restart", async () => {
    const look = [
      call("notes_list_notes", {}),
      (request: ScriptedRequest) =>
        call("respond", { content: promptOf(request).includes("none yet") ? "There are none yet." : "?" }),
    ] as const;
    const model = await startScriptedServer([
      call("mcp_request_server_addition", { serverName: NOTES, purpose: "notes" }),
      call("respond", { content: "I have asked for it." }),
      ...look,
      ...look,
    ]);
    open.push(model);
    const env = {
      ERGON_MODEL: "local/tiny",
      ERGON_MODEL_URL: model.url,
      MCP_TOOL_APPROVAL: "false",
      ERGON_ENERGY_RATE: "0",
    };
    await serve(env);
    const { conversation } = await say("Can you keep my notes?");
    const { id: conversationId } = conversation;
    const [taken] = (await ask("GET", "/subagent/requests")).body["items"] as SubAgentStatus[];
    const requestId = taken?.requestId ?? "";
    const { energyConsumed } = await reached(requestId, "awaiting_approval");
    expect(energyConsumed).toBeGreaterThanOrEqual(5);
    expect(JSON.parse(readFileSync(config(), "utf8"))).toMatchObject({ servers: [{ id: "notes", enabled: false }] });
    expect(await toolIds()).not.toContain("notes_list_notes");
    const told = await toldUntil(requestId, "awaiting_approval");
    expect([...new Set(told.map(({ progress }) => progress))]).toEqual([0, 5, 15, 30, 60, 85, 90]);

    const approvalId = await pendingApproval();
    const [question] = (await ask("GET", "/approvals?state=pending")).body["items"] as { conversationId: string }[];
    expect(question).toMatchObject({ id: approvalId, conversationId });
    const notesIn = async () =>
      ((await ask("GET", `/conversations/${conversationId}`)).body as unknown as ConversationView).history.flatMap(
        ({ body }) => (body.kind === "note" ? [body.text] : []),
      );
    await vi.waitFor(async () => expect((await notesIn()).join()).toContain(`approvals approve ${approvalId}`), SLOW);
    await sayYesInChat(conversationId, "There are none yet.");
    const { energyConsumed: inAll } = await reached(requestId, "completed");
    expect(JSON.parse(readFileSync(config(), "utf8"))).toMatchObject({ servers: [{ id: "notes", enabled: true }] });
    await vi.waitFor(async () => expect(await toolIds()).toContain("notes_list_notes"), SLOW);
    const second = await say("What notes are there?", conversationId);
    // It went on by itself when its tools were there, and answers the next message as well.
    expect(answersIn(second)).toEqual(["I have asked for it.", "There are none yet.", "There are none yet."]);
    expect(promptOf(model.requests[2] as ScriptedRequest)).toContain("Its tools can be used now: notes_list_notes");
    for (const request of model.requests) expect(promptOf(request)).not.toContain("ergon::enable_server");
    const ends = (await toldUntil(requestId, "completed")).filter(({ state }) => state === "completed");
    expect(ends).toHaveLength(1);
    expect(promptOf(model.requests[2] as ScriptedRequest)).toContain("notes_list_notes");
    expect(promptOf(model.requests[2] as ScriptedRequest)).toContain("tool_available");
    const { level } = (await ask("GET", "/energy")).body as { level: number };
    const spent = second.conversation.energySpent + inAll;
    expect(Math.round((100 - level) * 1e6)).toBe(Math.round(spent * 1e6));

    await server.stop("SIGTERM");
    await serve(env);
    expect(((await ask("GET", "/energy")).body as { level: number }).level).toBe(level);
    expect(answersIn(await say("And now?", conversationId)).at(-1)).toBe("There are none yet.");
  });

  it("is made over MCP, is nobody else's, outlives a SIGKILL, and leaves nothing behind when a person says no", async () => {
    await serve();
    const bo = String((await post("/tokens", { name: "bo" })).body["token"]);
    const connect = async () => {
      const client = await CLIENTS["SDK v2, 2026"]({ kind: "http", url: server.url, token: bo });
      open.push(client);
      return client;
    };
    const client = await connect();
    const mine = await client.tools();
    const names = ["request_server_addition", "check_subagent_status", "cancel_subagent_work", "list_available_tools"];
    expect(mine).toEqual(expect.arrayContaining(names.map((name) => `mcp_${name}`)));
    const outputOf = async (from: typeof client, name: string, args: Record<string, unknown>): Promise<unknown> =>
      (await from.call(name, args)).structured["output"];
    const asked = await outputOf(client, "mcp_request_server_addition", { serverName: NOTES, priority: "high" });
    const { requestId } = asked as { requestId: string };
    await vi.waitFor(async () => {
      const status = await outputOf(client, "mcp_check_subagent_status", { requestId });
      expect(status).toMatchObject({ state: "awaiting_approval" });
    }, SLOW);
    expect((await ask("GET", `/subagent/requests/${requestId}`, { token: bo })).status).toBe(200);
    expect((await ask("GET", `/subagent/requests/${requestId}`)).status).toBe(404);
    const foreign = [
      await callTool("mcp_check_subagent_status", { requestId }),
      await callTool("mcp_cancel_subagent_work", { requestId, reason: "not mine" }),
    ];
    for (const { body } of foreign) expect(JSON.stringify(body)).toContain("has no request");

    await server.stop("SIGKILL");
    await serve();
    const again = await connect();
    await vi.waitFor(async () => {
      const status = await outputOf(again, "mcp_check_subagent_status", { requestId });
      expect(status).toMatchObject({ state: "awaiting_approval" });
    }, SLOW);
    const [approval] = (await ask("GET", "/approvals?state=pending")).body["items"] as { id: string }[];
    expect(approval).toMatchObject({
      tool: "ergon::enable_server",
      parameters: { serverId: "notes", about: { package: `${PACKAGE}@1.0.0` } },
    });
    const decide = (id: string, decision: object) => post(`/approvals/${id}`, decision);
    expect((await decide(approval?.id ?? "", { decision: "approve", remember: "tool" })).status).toBe(422);
    await decide(approval?.id ?? "", { decision: "deny", feedback: "no notes" });
    await vi.waitFor(async () => {
      const status = await outputOf(again, "mcp_check_subagent_status", { requestId });
      expect(status).toMatchObject({ state: "failed", error: expect.stringContaining("no notes") as string });
    }, SLOW);
    expect(existsSync(join(data(), "servers", "notes"))).toBe(false);
    expect(readFileSync(config(), "utf8")).not.toContain("notes");
    expect(await outputOf(again, "mcp_list_available_tools", {})).toEqual({ tools: [] });

    const forged = await callTool("ergon::enable_server", { serverId: "notes" });
    expect(forged.status).toBe(202);
    await decide(String(forged.body["approvalId"]), { decision: "approve" });
    const dropped = await outputOf(again, "mcp_request_server_addition", { serverName: NOTES });
    const { requestId: second } = dropped as { requestId: string };
    const cancelled = await outputOf(again, "mcp_cancel_subagent_work", { requestId: second, reason: "enough" });
    expect(cancelled).toEqual({ cancelled: true });
    await vi.waitFor(async () => {
      const status = await outputOf(again, "mcp_check_subagent_status", { requestId: second });
      expect(status).toMatchObject({ state: "cancelled", message: "It was cancelled: enough" });
    }, SLOW);
    expect((await ask("GET", "/subagent/requests/sub_unknown")).status).toBe(404);
    expect((await post("/subagent/requests", { type: "add_server", params: { command: "sh" } })).status).toBe(422);
  });

  it("that came with DATA is prepared anew: the program that it names does not run", async () => {
    const proof = join(folder.path, "proof");
    mkdirSync(data(), { recursive: true });
    const requests = openSubAgentRequests({ path: join(data(), "state.db") });
    const args = ["-c", `touch ${proof}`];
    const hostile = { id: "notes", name: "notes", command: "/bin/sh", args, enabled: true };
    const request = { id: "sub_planted", type: "add_server", params: { serverName: NOTES }, priority: "high" };
    const status = { requestId: "sub_planted", state: "queued", progress: 85, message: "", energyConsumed: 0 };
    const prepared = { serverId: "notes", about: {}, added: { config: hostile, probe: {} } };
    const row = { request: { ...request, timestamp: new Date().toISOString() }, owner: "admin", status, drained: 0 };
    await requests.put({ ...row, prepared } as Parameters<typeof requests.put>[0]);
    await requests.close();
    await serve();
    await reached("sub_planted", "awaiting_approval");
    const { servers } = JSON.parse(readFileSync(config(), "utf8")) as { servers: { command: string }[] };
    expect(servers).toMatchObject([{ id: "notes", enabled: false }]);
    expect(servers[0]?.command).not.toBe("/bin/sh");
    expect(existsSync(proof)).toBe(false);
  });

  it("starts nothing when its entry was changed after the person was asked", async () => {
    await serve();
    const requestId = await requestNotes();
    await reached(requestId, "awaiting_approval");
    const written = JSON.parse(readFileSync(config(), "utf8")) as { servers: { args: string[] }[] };
    const proof = join(folder.path, "proof");
    const changed = { ...written.servers[0], command: "/bin/sh", args: ["-c", `touch ${proof}`] };
    folder.write({ "mcp-servers.json": JSON.stringify({ servers: [changed] }) });
    await ergon(["approvals", "approve", await pendingApproval(), "--data", data()], options());
    expect((await reached(requestId, "failed")).error).toContain("not what the person was asked about");
    expect(JSON.parse(readFileSync(config(), "utf8"))).toEqual({ servers: [changed] });
    expect(existsSync(proof)).toBe(false);
  });

  it("pauses when energy is under 10, and is finished once it has come back", async () => {
    mkdirSync(data(), { recursive: true });
    const pool = openSqliteConversationStore({ path: join(data(), "state.db") });
    await pool.keepPool(new Date().toISOString(), { owner: "first", level: 10.05, rows: [] });
    await pool.close();
    await serve({ ERGON_ENERGY_RESUME: "11" });
    const requestId = await requestNotes();
    await reached(requestId, "waits until there is energy again");
    const { level } = (await ask("GET", "/energy")).body as { level: number };
    expect(level).toBeLessThan(11);
    await reached(requestId, "awaiting_approval");
    const told = await toldUntil(requestId, "awaiting_approval");
    const paused = told.findIndex(({ message }) => message.includes("waits until there is energy"));
    expect(told[paused]).toMatchObject({ state: "in_progress" });
    expect(told[paused]?.progress).toBeLessThan(90);
    expect(told.at(-1)?.progress).toBe(90);
  });

  it("searches the registry unasked when no tool fits, where that is turned on, and notes what it found", async () => {
    const unmet = "Zebra quantum trombone, please";
    registries.addServer({ name: "com.example/trombone", description: "Plays the trombone.", version: "1.0.0" });
    const notesOf = async (id: string): Promise<readonly string[]> => {
      const { history } = (await ask("GET", `/conversations/${id}`)).body as ConversationView;
      return history.flatMap(({ body }) => (body.kind === "note" ? [body.text] : []));
    };
    folder.write({ "mcp-servers.json": JSON.stringify({ servers: [], autoDiscoveryEnabled: true }) });
    await serve();
    const found = await say(unmet);
    expect(answersIn(found)[0]).toContain("registry of MCP servers is being searched");
    await vi.waitFor(
      async () => expect((await notesOf(found.conversation.id))[0]).toContain("com.example/trombone"),
      SLOW,
    );
    expect(readFileSync(config(), "utf8")).not.toContain("trombone");
    await server.stop("SIGTERM");

    await serve({ MCP_AUTO_DISCOVERY: "false" });
    expect(answersIn(await say(unmet))[0]).not.toContain("searched");
    expect((await ask("GET", "/subagent/requests")).body["items"]).toHaveLength(1);
    await server.stop("SIGTERM");

    folder.write({ "mcp-servers.json": JSON.stringify({ servers: [], subAgentEnabled: false }) });
    await serve({ MCP_AUTO_DISCOVERY: "true" });
    expect(answersIn(await say(unmet))[0]).not.toContain("searched");
    const refused = await post("/subagent/requests", { type: "search_servers", params: { query: "notes" } });
    expect(refused.body).toMatchObject({
      code: "not_available",
      detail: expect.stringContaining("subAgentEnabled") as string,
    });
  });

  it("stops with the loop, goes on with the next one, and hears a yes that was given between two", async () => {
    await serve();
    const requestId = await requestNotes();
    await vi.waitFor(async () => {
      const { body } = await ask("GET", `/subagent/requests/${requestId}`);
      expect(body["progress"]).toBeGreaterThanOrEqual(30);
    }, SLOW);
    await server.stop("SIGTERM");
    expect(processesOn(folder.path)).toEqual([]);
    await serve();
    await reached(requestId, "awaiting_approval");

    const approvalId = await pendingApproval();
    await server.stop("SIGTERM");
    const approved = await ergon(["approvals", "approve", approvalId, "--data", data()], options());
    expect(approved.code, approved.err).toBe(0);
    await serve();
    await reached(requestId, "completed");
    await vi.waitFor(async () => expect(await toolIds()).toContain("notes_list_notes"), SLOW);
  });
});
