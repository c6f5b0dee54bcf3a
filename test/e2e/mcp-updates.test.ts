import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FirstHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "./ergon.ts";
import { CLIENTS, headersOf } from "./mcp-clients.ts";
import { serveFolder, type ServedFolder } from "./served.ts";

const PATIENCE_MS = 60_000;
const INFO = { name: "test", version: "1.0.0" };

describe("a served folder that MCP clients watch", { timeout: PATIENCE_MS }, () => {
  const folder = temporaryFolder();
  let server: ServedFolder;
  beforeAll(async () => {
    server = await serveFolder(join(folder.path, "data"), { cwd: folder.path });
  }, PATIENCE_MS);
  afterAll(async () => {
    await server.stop("SIGTERM");
    folder.remove();
  }, PATIENCE_MS);

  it("tells a 2025 client of the loop that it subscribed to, and of no other", async () => {
    const client = new FirstClient(INFO);
    const updates: string[] = [];
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updates.push(params.uri));
    await client.connect(new FirstHttp(new URL("/mcp", server.url), { requestInit: { headers: headersOf(server) } }));
    try {
      const call = async (name: string, args: Record<string, unknown>) =>
        (await client.callTool({ name, arguments: args })).structuredContent as Record<string, unknown>;
      const watched = (await call("initialize_refinement_loop", { loop_type: "plan" }))["id"];
      const other = (await call("initialize_refinement_loop", { loop_type: "plan" }))["id"];
      await client.subscribeResource({ uri: `ergon://loops/${String(watched)}` });
      await call("decide_loop_next_action", { loop_id: other, current_score: 10 });
      await call("decide_loop_next_action", { loop_id: watched, current_score: 10 });
      const uri = `ergon://loops/${String(watched)}`;
      await expect.poll(() => updates.includes(uri), { timeout: 30_000 }).toBe(true);
      expect(new Set(updates)).toEqual(new Set([uri]));
    } finally {
      await client.close();
    }
  });

  it("tells a 2026 client that listens of a session's changes", async () => {
    const client = new Client(INFO, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
    const updates: string[] = [];
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => void updates.push(params.uri));
    const transport = new StreamableHTTPClientTransport(new URL("/mcp", server.url), {
      requestInit: { headers: headersOf(server) },
    });
    await client.connect(transport);
    try {
      const made = await fetch(new URL("/sessions", server.url), {
        method: "POST",
        headers: { ...headersOf(server), "content-type": "application/json" },
        body: "{}",
      });
      const { sessionId } = (await made.json()) as { sessionId: string };
      const uri = `ergon://sessions/${sessionId}`;
      const subscription = await client.listen({ resourceSubscriptions: [uri] });
      await client.callTool({ name: "cancel_session", arguments: { sessionId } });
      await expect.poll(() => updates.includes(uri), { timeout: 30_000 }).toBe(true);
      await subscription.close();
    } finally {
      await client.close();
    }
  });

  it.each(
    ["alone", "beside a server"].flatMap((where) => Object.keys(CLIENTS).map((client) => [client, where] as const)),
  )("tells %s over stdio, %s, of what it subscribed to", async (name, where) => {
    const connect = CLIENTS[name as keyof typeof CLIENTS];
    const data = join(folder.path, where === "alone" ? `alone-${name.replaceAll(/\W/g, "")}` : "data");
    const client = await connect({ kind: "stdio", data, cwd: folder.path });
    try {
      const begun = await client.call("initialize_refinement_loop", { loop_type: "plan" });
      const id = String(begun.structured["id"]);
      await client.subscribe(`ergon://loops/${id}`);
      const decide = () => client.call("decide_loop_next_action", { loop_id: id, current_score: 10 });
      const isTold = () => client.changed.has(`ergon://loops/${id}`);
      // The newer era does not say when it has begun to listen.
      const goOn = name === "SDK v2, 2026" ? decide : () => Promise.resolve();
      await decide();
      await expect.poll(async () => (await goOn(), isTold()), { timeout: 30_000 }).toBe(true);
    } finally {
      await client.close();
    }
  });

  it.runIf(process.platform === "linux")("stays the same size under input that is meant to hurt", async () => {
    const { pid } = JSON.parse(readFileSync(join(folder.path, "data/server.json"), "utf8")) as { pid: number };
    const residentMB = (): number => {
      const [, kB] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${String(pid)}/status`, "utf8")) ?? [];
      return Number(kB) / 1024;
    };
    const deep = `${"[".repeat(10_000)}${"]".repeat(10_000)}`;
    const hurtful = [
      "{",
      deep,
      `{"jsonrpc":"2.0","id":1,"method":"x","params":{"x":"${"y".repeat(900_000)}"}}`,
      `{"jsonrpc":"2.0","id":1,"method":"x","params":{"x":"${"y".repeat(4 * 1024 * 1024)}"}}`,
      `[${"1,".repeat(100_000)}1]`,
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"decide_loop_next_action"}}',
    ];
    const headers = {
      ...headersOf(server),
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const storm = async (rounds: number): Promise<void> => {
      for (let round = 0; round < rounds; round += 1) {
        const sent = hurtful.map(async (body) => {
          const response = await fetch(new URL("/mcp", server.url), { method: "POST", headers, body });
          await response.arrayBuffer();
          return response.status;
        });
        // A body that is cut off may end the connection instead of being answered.
        const statuses = (await Promise.allSettled(sent)).map((one) => (one.status === "fulfilled" ? one.value : 413));
        for (const status of statuses) expect(status).toBeGreaterThanOrEqual(400);
      }
    };
    await storm(20);
    const before = residentMB();
    await storm(60);
    expect(residentMB() - before).toBeLessThan(150);
    expect((await fetch(new URL("/healthz", server.url))).status).toBe(200);
  });
});
