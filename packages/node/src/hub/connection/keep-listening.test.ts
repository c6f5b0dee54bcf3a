import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { silentLogger } from "@ergon/core";
import type { McpConnection } from "@ergon/core/hub";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { createMcpConnector } from "./connector.ts";

vi.setConfig({ testTimeout: 60_000 });
const PATIENCE = { timeout: 30_000, interval: 20 };
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describe("a subscription to a server's changes", () => {
  it("is opened again when it was dropped, and what changed meanwhile is seen", async () => {
    const server = await started();
    const connection = await opened(server.url);
    await vi.waitFor(() => expect(server.listening).toHaveLength(1), PATIENCE);
    server.tools.push("new");
    for (const stream of server.listening) stream.destroy();
    await vi.waitFor(() => expect(server.listening).toHaveLength(2), PATIENCE);
    await vi.waitFor(
      () => expect(connection.report().tools.map(({ name }) => name)).toEqual(["first", "new"]),
      PATIENCE,
    );
    expect(connection.report().state).toBe("ready");
  });

  it("that a server drops at once each time is asked for ever more seldom", async () => {
    const server = await started({ dropsAtOnce: true });
    await opened(server.url);
    await vi.waitFor(() => expect(server.listening.length).toBeGreaterThan(1), PATIENCE);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(server.listening.length).toBeLessThan(10);
  });
});

type Changing = { readonly url: string; readonly tools: string[]; readonly listening: ServerResponse[] };

async function started({ dropsAtOnce = false } = {}): Promise<Changing> {
  const tools = ["first"];
  const listening: ServerResponse[] = [];
  const answer = toNodeHandler(createMcpHandler(() => toolServer(tools)));
  const server = createServer((request, response) => {
    if (request.headers["mcp-method"] === "subscriptions/listen") {
      listening.push(response);
      if (dropsAtOnce) response.once("pipe", () => response.destroy());
      if (dropsAtOnce) setTimeout(() => response.destroy(), 20);
    }
    void answer(request as Parameters<typeof answer>[0], response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => server.close().closeAllConnections());
  return { url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/mcp`, tools, listening };
}

function toolServer(names: readonly string[]): McpServer {
  const server = new McpServer({ name: "changing", version: "1.0.0" });
  for (const name of names) {
    server.registerTool(name, { description: "Does nothing.", inputSchema: z.object({}) }, () => ({ content: [] }));
  }
  return server;
}

async function opened(url: string): Promise<McpConnection> {
  const connector = createMcpConnector({ logger: silentLogger });
  const config = { id: "changing", name: "changing", url, enabled: true };
  const connection = connector.open({ config, secrets: [], onChange: () => undefined });
  closing.push(connection.stop);
  connection.start();
  await connection.settled();
  return connection;
}
