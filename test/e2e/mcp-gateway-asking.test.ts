import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Answerer, Told } from "./mcp-clients.ts";
import { CLIENT_NAMES, EVERY_WAY, mcpFolder } from "./mcp-folder.ts";

const HOSTILE = join(import.meta.dirname, "../../packages/node/src/hub/hostile-server.fixture.ts");
const EVERYTHING = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js");
const form = (properties: object) => ({ message: "What is it?", requestedSchema: { type: "object", properties } });
const NAME = form({ name: { type: "string" } });

describe("a server's tool that is called through the gateway", { timeout: 120_000 }, () => {
  const { folder, http, stdio, connect } = mcpFolder();
  const log = () => join(folder.path, "charged");
  const charged = () => (existsSync(log()) ? readFileSync(log(), "utf8").trim().split("\n").length : 0);
  const prepare = (autoApprove: boolean) => {
    const config = join(folder.path, "mcp-servers.json");
    const node = { command: process.execPath, autoApprove };
    const servers = [
      { id: "shop", ...node, args: [HOSTILE, "charges", log()] },
      { id: "ev", ...node, args: [EVERYTHING, "stdio", folder.path] },
    ];
    folder.write({ "mcp-servers.json": JSON.stringify({ servers }) });
    return ["--gateway", "--mcp-config", config];
  };
  const asked: string[] = [];
  const user: Answerer = (message) => {
    asked.push(message);
    const isQuestion = message.includes("What is it?") && !message.includes("MCP server");
    return { action: "accept", content: isQuestion ? { name: "Ada" } : { decision: "approve" } };
  };

  it.each(EVERY_WAY.flatMap(([client, way]) => [true, false].map((allowed) => [client, way, allowed] as const)))(
    "asks the user of %s over %s in the middle of its work, which it does once; allowed for good: %s",
    async (name, way, allowed) => {
      asked.length = 0;
      const args = prepare(allowed);
      const client = await connect(
        name,
        way === "stdio" ? stdio(...args, "--may-approve") : await http({ args }),
        user,
      );
      await client.tools();
      const { isError, structured } = await client.call("shop_charge", NAME);
      expect(structured).toMatchObject({ output: expect.stringContaining("Ada") as string });
      expect(isError).toBe(false);
      expect(asked).toHaveLength(allowed ? 1 : 2);
      expect(charged()).toBe(1);
    },
  );

  it("has its question in the result where the client has no form", async () => {
    const client = await connect("SDK v1", stdio(...prepare(true)));
    await client.tools();
    const { structured } = await client.call("shop_charge", NAME);
    expect(structured).toMatchObject({ code: "input_required", message: expect.stringContaining("What is it?") });
    const { sessionId } = structured as { sessionId: string };
    const resumed = await client.call("resume_session", { sessionId, input: { name: "Ada" } });
    expect(resumed.structured).toMatchObject({ status: "completed" });
    expect(charged()).toBe(1);
  });

  it("says that a question was declined that asks for a secret", async () => {
    const client = await connect("SDK v2, 2025", stdio(...prepare(true)), user);
    await client.tools();
    const { text } = await client.call("shop_charge", form({ password: { type: "string" } }));
    expect(text).toContain('asked for a secret (\\"password\\") in a form; Ergon declined that.');
  });

  it("asks the reference server's own form, which no client of before 2025-11 could show whole", async () => {
    const client = await connect("SDK v2, 2025", stdio(...prepare(true)), user);
    await client.tools();
    const { structured } = await client.call("ev_trigger-elicitation-request", {});
    expect(structured).toMatchObject({ code: "input_required", message: expect.stringContaining("resume_session") });
    const { sessionId } = structured as { sessionId: string };
    const resumed = await client.call("resume_session", { sessionId, input: { name: "Ada", check: true } });
    expect(resumed.structured).toMatchObject({ status: "completed" });
    const { structured: session } = await client.call("get_session", { sessionId });
    expect(JSON.stringify(session)).toContain("Ada");
  });

  it.each(CLIENT_NAMES)("keeps %s waiting by its progress, with its numbers", async (name) => {
    const client = await connect(name, stdio(...prepare(true)));
    await client.tools();
    const told: Told[] = [];
    const onprogress = (update: Told) => void told.push(update);
    const args = { duration: 4, steps: 4 };
    const { text } = await client.call("ev_trigger-long-running-operation", args, { timeout: 3_000, onprogress });
    expect(text).toContain("completed");
    expect(told.map(({ progress, total }) => [progress, total])).toEqual(
      expect.arrayContaining([
        [25, 100],
        [50, 100],
      ]),
    );
  });

  it("fails with an unknown outcome when its server falls, and with what is wrong with its arguments", async () => {
    const client = await connect("SDK v2, 2025", stdio(...prepare(true)), user);
    await client.tools();
    const crashed = await client.call("shop_crash", {});
    expect(crashed).toMatchObject({ isError: true, structured: { code: "outcome_unknown" } });
    const refused = await client.call("ev_get-sum", { a: "one", b: 2 });
    expect(refused).toMatchObject({ isError: true, structured: { code: "args_invalid" } });
  });

  it("ends when the client gives it up", async () => {
    const client = await connect("SDK v2, 2025", stdio(...prepare(true)));
    await client.tools();
    const gaveUp = new AbortController();
    setTimeout(() => gaveUp.abort(), 1_000);
    await expect(client.call("shop_silent", {}, { signal: gaveUp.signal })).rejects.toThrow(/abort/i);
    const sessions = async () => JSON.stringify((await client.call("list_sessions", {})).structured);
    await expect.poll(sessions, { timeout: 10_000 }).toMatch(/"status":"(cancelled|paused_on_error)"/);
  });
});
