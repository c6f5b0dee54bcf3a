import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as FirstStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DOORS, plainEnvironment, temporaryFolder } from "./ergon.ts";
import { headersOf } from "./mcp-clients.ts";
import { leaveNothingOn } from "./processes.ts";
import { serveFolder } from "./served.ts";

const INFO = { name: "test", version: "1.0.0" };
const plan = (planId: string, message: string): string =>
  JSON.stringify({
    planId,
    description: "",
    startStepId: "end",
    steps: [{ id: "end", type: "final_response", message }],
  });

describe("plans that change while Ergon runs", { timeout: 60_000 }, () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => {
    folder = temporaryFolder();
    mkdirSync(join(folder.path, "mine"));
  });
  afterEach(() => {
    leaveNothingOn(folder.path);
    folder.remove();
  });

  it("are announced over HTTP to a 2026 client, and run as they are now", async () => {
    const mine = join(folder.path, "mine");
    const server = await serveFolder(join(folder.path, "data"), { cwd: folder.path, args: ["--capabilities", mine] });
    const client = new Client(INFO, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
    try {
      let changes = 0;
      client.setNotificationHandler("notifications/tools/list_changed", () => {
        changes += 1;
      });
      const url = new URL("/mcp", server.url);
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: headersOf(server) } }));
      const subscription = await client.listen({ toolsListChanged: true });
      const names = async () => (await client.listTools()).tools.map(({ name }) => name);
      const run = async () =>
        (await client.callTool({ name: "plan_hello", arguments: {} })).structuredContent as Record<string, unknown>;
      expect(await names()).not.toContain("plan_hello");
      folder.write({ "mine/hello.plan.json": plan("hello", "first") });
      await expect.poll(() => changes, { timeout: 30_000 }).toBe(1);
      expect(await names()).toContain("plan_hello");
      expect(await run()).toMatchObject({ finalResponse: "first" });
      folder.write({ "mine/hello.plan.json": plan("hello", "second") });
      await expect.poll(() => changes, { timeout: 30_000 }).toBe(2);
      expect(await run()).toMatchObject({ finalResponse: "second" });
      rmSync(join(mine, "hello.plan.json"));
      await expect.poll(names, { timeout: 30_000 }).not.toContain("plan_hello");
      await subscription.close();
    } finally {
      await client.close();
      await server.stop("SIGTERM");
    }
  });

  it("are announced over stdio to a 2025 client", async () => {
    const client = new FirstClient(INFO);
    let changes = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      changes += 1;
    });
    const env = Object.fromEntries(Object.entries(plainEnvironment()).map(([name, value]) => [name, value ?? ""]));
    const args = [DOORS.built, "mcp", "--data", join(folder.path, "data"), "--capabilities", join(folder.path, "mine")];
    await client.connect(new FirstStdio({ command: process.execPath, args, cwd: folder.path, env }));
    try {
      const names = async () => (await client.listTools()).tools.map(({ name }) => name);
      expect(await names()).not.toContain("plan_hello");
      folder.write({ "mine/hello.plan.json": plan("hello", "first") });
      await expect.poll(() => changes, { timeout: 30_000 }).toBeGreaterThan(0);
      expect(await names()).toContain("plan_hello");
    } finally {
      await client.close();
    }
  });
});
