import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { silentLogger } from "@ergon/core";
import type { McpConnection } from "@ergon/core/hub";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { createMcpConnector } from "./connection/connector.ts";
import { MAX_REDIRECTS } from "./transport/same-origin-fetch.ts";

vi.setConfig({ testTimeout: 60_000 });
const PATIENCE = { timeout: 30_000, interval: 50 };
const require = createRequire(import.meta.url);

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describe("a server behind a web address", () => {
  it.each(["streamableHttp", "sse"])("is spoken to by %s, as the published server does it", async (transport) => {
    const port = await freePort();
    await everything(port, transport);
    const url = `http://127.0.0.1:${String(port)}/${transport === "sse" ? "sse" : "mcp"}`;
    const connection = opened(url);
    await connection.settled();
    expect(connection.report()).toMatchObject({ state: "ready", protocol: "legacy" });
    const result = await connection.call({ name: "echo", args: { message: "hello" } });
    expect(JSON.stringify(result)).toContain("hello");
  });

  it("is spoken to by the newer protocol where it has it, with the headers of its configuration", async () => {
    const seen: (string | undefined)[] = [];
    const answer = toNodeHandler(createMcpHandler(adder));
    const url = await served(async (request, response) => {
      seen.push(request.headers["x-api-key"] as string | undefined);
      await answer(request as Parameters<typeof answer>[0], response);
    });
    const connection = opened(url, { "X-Api-Key": "canary-key" });
    await connection.settled();
    expect(connection.report()).toMatchObject({ state: "ready", protocol: "modern", version: "2.0.0" });
    const result = await connection.call({ name: "add", args: { a: 2, b: 3 } });
    expect(result).toMatchObject({ structuredContent: { sum: 5 }, isError: false });
    expect(new Set(seen)).toEqual(new Set(["canary-key"]));
  });

  it.each([
    ["from the start", true],
    ["since its tools were listed", false],
  ])("gets arguments in headers, too, that its schema wants there %s", async (_, fromStart) => {
    const seen: unknown[] = [];
    let isWanted = fromStart;
    const answer = toNodeHandler(createMcpHandler(() => greeter(isWanted)));
    const url = await served(async (request, response) => {
      if (request.headers["mcp-method"] === "tools/call") seen.push(request.headers["mcp-param-city"]);
      await answer(request as Parameters<typeof answer>[0], response);
    });
    const connection = opened(url);
    await connection.settled();
    isWanted = true;
    const result = await connection.call({ name: "greet", args: { city: "Oslo" } });
    expect(result).toMatchObject({ content: [{ type: "text", text: "Hello, Oslo" }], isError: false });
    await connection.call({ name: "greet", args: { city: "Bergen" } });
    // What was refused was not done, and is not tried that way again.
    expect(seen).toEqual([...(fromStart ? [] : [undefined]), "Oslo", "Bergen"]);
  });

  it("is asked once when it speaks the older protocol, whatever it answers", async () => {
    let calls = 0;
    const url = await served(async (request, response) => {
      const { id, method } = JSON.parse((await text(request)) || "{}") as { id?: number; method?: string };
      const answer = (said: object): unknown =>
        response
          .writeHead(200, { "content-type": "application/json" })
          .end(JSON.stringify({ jsonrpc: "2.0", id, ...said }));
      if (id === undefined) return response.writeHead(request.method === "POST" ? 202 : 405).end();
      if (method === "initialize") {
        const serverInfo = { name: "old", version: "1.0.0" };
        return answer({ result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo } });
      }
      if (method === "tools/list")
        return answer({ result: { tools: [{ name: "pay", inputSchema: { type: "object" } }] } });
      if (method === "tools/call") calls += 1;
      // By the newer protocol the code of a refusal; in the older one it may mean anything.
      return answer({
        error: { code: method === "tools/call" ? -32_020 : -32_601, message: "Paid, but out of paper." },
      });
    });
    const connection = opened(url);
    await connection.settled();
    expect(connection.report()).toMatchObject({ state: "ready", protocol: "legacy" });
    await expect(connection.call({ name: "pay", args: {} })).rejects.toMatchObject({ message: /out of paper/ });
    expect(calls).toBe(1);
  });

  it("does not get its keys sent elsewhere by a redirect", async () => {
    let stolen = 0;
    const thief = await served((_, response) => {
      stolen += 1;
      response.end("{}");
    });
    const url = await served((_, response) => {
      response.writeHead(307, { location: thief }).end();
    });
    const connection = opened(url, { "X-Api-Key": "canary-key" });
    await connection.settled();
    expect(connection.report()).toMatchObject({ state: "down", errors: [expect.stringContaining("not followed")] });
    expect(stolen).toBe(0);
  });

  it.each([
    [MAX_REDIRECTS, "ready"],
    [MAX_REDIRECTS + 1, "down"],
  ])("that sends its callers on %i times within itself is %s", async (times, state) => {
    const answer = toNodeHandler(createMcpHandler(adder));
    const url = await served(async (request, response) => {
      const hops = Number(new URL(request.url ?? "", "http://x").searchParams.get("hops") ?? "0");
      if (hops < times) return void response.writeHead(307, { location: `/mcp?hops=${String(hops + 1)}` }).end();
      await answer(request as Parameters<typeof answer>[0], response);
    });
    const connection = opened(url);
    await connection.settled();
    expect(connection.report().state).toBe(state);
  });

  it.each([
    [500, "down"],
    [503, "down"],
  ])("that answers %i is %s, and is tried again", async (status, state) => {
    const url = await served((_, response) => response.writeHead(status).end("no"));
    const connection = opened(url);
    await connection.settled();
    expect(connection.report()).toMatchObject({ state, nextTryAt: expect.any(String) });
  });

  it("is found again after it was away", async () => {
    const answer = toNodeHandler(createMcpHandler(adder));
    let isAway = false;
    const url = await served(async (request, response) => {
      if (isAway) return void request.socket.destroy();
      await answer(request as Parameters<typeof answer>[0], response);
    });
    const connection = opened(url);
    await connection.settled();
    isAway = true;
    await expect(connection.call({ name: "add", args: { a: 1, b: 1 } })).rejects.toMatchObject({ code: "answer_lost" });
    isAway = false;
    expect(await connection.call({ name: "add", args: { a: 1, b: 1 } })).toMatchObject({
      structuredContent: { sum: 2 },
    });
  });
});

describe("a server behind a web address that was started again", () => {
  it("is greeted anew by the next call, as the published server needs it", async () => {
    const port = await freePort();
    const kill = await everything(port);
    const connection = opened(`http://127.0.0.1:${String(port)}/mcp`);
    await connection.settled();
    await connection.call({ name: "echo", args: { message: "one" } });
    await kill();
    await everything(port);
    expect(JSON.stringify(await connection.call({ name: "echo", args: { message: "two" } }))).toContain("two");
    expect(connection.report().state).toBe("ready");
  });

  it.each([
    [404, "Session not found"],
    [400, "Bad Request: No valid session ID provided"],
  ])("and says %i (%s) is sent each call that it did not take once more (C4)", async (status, message) => {
    const server = sessionServer({ status, message });
    const connection = opened(await served(server.listener));
    await connection.settled();
    const slow = connection.call({ name: "slow", args: {} });
    await vi.waitFor(() => expect(server.taken).toEqual(["slow"]), PATIENCE);
    server.forget();
    const calls = Array.from({ length: 5 }, (_, n) => connection.call({ name: `fast${String(n)}`, args: {} }));
    expect(await Promise.all(calls)).toHaveLength(5);
    expect(server.taken.toSorted()).toEqual(["fast0", "fast1", "fast2", "fast3", "fast4", "slow"]);
    expect(server.sessions()).toBe(2);
    server.finish();
    // It was taken before, and its answer is still waited for where it was asked for (C5).
    expect(await slow).toMatchObject({ isError: false });
    expect(connection.report().state).toBe("ready");
  });

  it("and forgets each session at once is not greeted without end", async () => {
    const server = sessionServer({ status: 404, message: "Session not found" });
    const connection = opened(await served(server.listener));
    await connection.settled();
    server.forgetAlways();
    await expect(connection.call({ name: "fast", args: {} })).rejects.toMatchObject({
      code: "server_down",
      retryable: true,
    });
    await vi.waitFor(() => expect(connection.report().state).toBe("down"), PATIENCE);
    expect(connection.report()).toMatchObject({ nextTryAt: expect.any(String) });
    expect(server.sessions()).toBe(2);
  });

  it.each([
    [404, "No such thing"],
    [400, "Bad Request: your session fee is due"],
  ])("and refuses with %i (%s) where no session is lost is not asked twice", async (status, message) => {
    const server = sessionServer({ status, message, hasSessions: status === 400 });
    const connection = opened(await served(server.listener));
    await connection.settled();
    server.forgetAlways();
    await expect(connection.call({ name: "fast", args: {} })).rejects.toMatchObject({ code: "server_refused" });
    expect(server.sessions()).toBe(1);
  });
});

describe("a server behind a web address that cannot be reached", () => {
  it.each([
    ["127.0.0.1", "ECONNREFUSED"],
    ["no-such-host.invalid", "ENOTFOUND|EAI_AGAIN"],
  ])("is named, and why (%s, %s)", async (host, reason) => {
    const address = `${host}:${String(await freePort())}`;
    const connection = opened(`http://${address}/mcp`);
    await connection.settled();
    const { state, errors } = connection.report();
    expect(state).toBe("down");
    expect(errors.join()).toMatch(new RegExp(`^${address} cannot be reached \\((${reason})\\)`));
  });

  it("was sent nothing, counts as down at once, and is tried again", async () => {
    const port = await freePort();
    const kill = await everything(port);
    const connection = opened(`http://127.0.0.1:${String(port)}/mcp`);
    await connection.settled();
    await kill();
    await expect(connection.call({ name: "echo", args: { message: "one" } })).rejects.toMatchObject({
      code: "server_down",
      retryable: true,
      message: expect.stringContaining("ECONNREFUSED"),
    });
    await vi.waitFor(() => expect(connection.report().nextTryAt).toBeDefined(), PATIENCE);
    expect(connection.report().state).toBe("down");
    await everything(port);
    await vi.waitFor(() => expect(connection.report().state).toBe("ready"), PATIENCE);
    expect(JSON.stringify(await connection.call({ name: "echo", args: { message: "two" } }))).toContain("two");
  });
});

/** A server of the older protocol that refuses whoever names a session that it does not know. */
function sessionServer({ status, message, hasSessions = true }: Refusing) {
  const known = new Set<string>();
  const taken: string[] = [];
  const finished = Promise.withResolvers<void>();
  let made = 0;
  let forgetsAlways = false;

  const listener = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { id, method, params } = JSON.parse((await text(request)) || "{}") as Asked;
    const answer = (said: object, headers = {}): void => {
      response.writeHead(200, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, ...said }));
    };
    if (method === "initialize") {
      made += 1;
      const session = `session-${String(made)}`;
      known.add(session);
      const serverInfo = { name: "old", version: "1.0.0" };
      const result = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo };
      return answer({ result }, hasSessions ? { "mcp-session-id": session } : {});
    }
    if (method === "server/discover") return answer({ error: { code: -32_601, message: "Method not found" } });
    const isKnown = !hasSessions || known.has(String(request.headers["mcp-session-id"]));
    const isRefused = !isKnown || (forgetsAlways && method === "tools/call");
    if (isRefused) return void response.writeHead(status).end(JSON.stringify({ error: { code: -32_000, message } }));
    if (id === undefined) return void response.writeHead(request.method === "POST" ? 202 : 405).end();
    if (method === "tools/list") return answer({ result: { tools: [] } });
    const name = params?.name ?? "";
    taken.push(name);
    if (name === "slow") await finished.promise;
    answer({ result: { content: [] } });
  };

  return {
    listener,
    taken,
    sessions: () => made,
    forget: () => known.clear(),
    forgetAlways: () => (forgetsAlways = true),
    finish: () => finished.resolve(),
  };
}

type Refusing = { readonly status: number; readonly message: string; readonly hasSessions?: boolean };
type Asked = { readonly id?: number; readonly method?: string; readonly params?: { readonly name?: string } };

/** The published server; the returned function kills it. */
async function everything(port: number, transport = "streamableHttp"): Promise<() => Promise<void>> {
  const file = require.resolve("@modelcontextprotocol/server-everything/dist/index.js");
  const env = { ...process.env, PORT: String(port) };
  const child: ChildProcess = spawn(process.execPath, [file, transport], { env, stdio: "ignore" });
  const exited = once(child, "exit");
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
  };
  closing.push(kill);
  await vi.waitFor(() => fetch(`http://127.0.0.1:${String(port)}/mcp`, { method: "DELETE" }), PATIENCE);
  return kill;
}

function adder(): McpServer {
  const server = new McpServer({ name: "modern", version: "2.0.0" });
  const shape = {
    description: "Adds two numbers.",
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() }),
  };
  server.registerTool("add", shape, ({ a, b }) => ({
    content: [{ type: "text", text: String(a + b) }],
    structuredContent: { sum: a + b },
  }));
  return server;
}

function greeter(inHeader: boolean): McpServer {
  const server = new McpServer({ name: "modern", version: "2.0.0" });
  const city = inHeader ? z.string().meta({ "x-mcp-header": "City" }) : z.string();
  server.registerTool("greet", { description: "Greets a city.", inputSchema: z.object({ city }) }, (args) => ({
    content: [{ type: "text", text: `Hello, ${args.city}` }],
  }));
  return server;
}

function opened(url: string, headers: Readonly<Record<string, string>> = {}): McpConnection {
  const connector = createMcpConnector({ logger: silentLogger });
  const config = { id: "web", name: "web", url, headers, enabled: true };
  const connection = connector.open({ config, secrets: [], onChange: () => undefined });
  closing.push(connection.stop);
  connection.start();
  return connection;
}

async function served(listener: (...args: Parameters<RequestListener>) => unknown): Promise<string> {
  const server = createServer((request, response) => void listener(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/mcp`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
