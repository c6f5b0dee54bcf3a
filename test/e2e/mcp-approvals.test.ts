import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ergon } from "./ergon.ts";
import type { Answerer, Connected } from "./mcp-clients.ts";
import { CLIENT_NAMES, mcpFolder } from "./mcp-folder.ts";
import { ownerAccess } from "./owner-access.ts";

const HOSTILE = join(import.meta.dirname, "../../packages/node/src/hub/hostile-server.fixture.ts");

const tool = (name: string, more: object) => `
import { appendFileSync } from "node:fs";
export const definition = ${JSON.stringify({
  id: `desk::${name}`,
  description: "Erases a drawer.",
  parameters: { type: "object", properties: { log: { type: "string" } }, required: ["log"] },
  ...more,
})};
export const implementation = async ({ log }) => {
  appendFileSync(log, "erased\\n");
  return { erased: true };
};
`;

const plan = (name: string) =>
  JSON.stringify({
    planId: name,
    description: "Tidies up.",
    parameters: { type: "object", properties: { log: { type: "string" } }, required: ["log"] },
    startStepId: "erase",
    steps: [
      {
        id: "erase",
        type: "tool_call",
        toolId: `desk::${name}`,
        arguments: { log: { jsonPath: "$.promptInput.log" } },
        nextStepId: "done",
      },
      { id: "done", type: "final_response", message: "done" },
    ],
  });

describe("a person who uses an MCP client", { timeout: 120_000 }, () => {
  const { folder, data, stdio, serve, connect } = mcpFolder();
  const log = () => join(folder.path, "erased.log");
  const erased = () => (existsSync(log()) ? readFileSync(log(), "utf8").trim().split("\n").length : 0);
  const prepare = () => {
    const server = { id: "one", command: process.execPath, args: [HOSTILE, "fine", folder.path] };
    folder.write({
      "caps/erase.tool.js": tool("erase", { destructiveHint: true }),
      "caps/always.tool.js": tool("always", { alwaysAsk: true }),
      "caps/erase.plan.json": plan("erase"),
      "caps/always.plan.json": plan("always"),
      "mcp-servers.json": JSON.stringify({ servers: [server] }),
    });
    return [
      "--gateway",
      "--capabilities",
      join(folder.path, "caps"),
      "--mcp-config",
      join(folder.path, "mcp-servers.json"),
    ];
  };
  /** Asks whoever owns the folder, as every other process on it does. */
  const elsewhere = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const owner = ownerAccess(data());
    const headers = { authorization: `Bearer ${owner.token}`, "content-type": "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(new URL(path, owner.url), { method, headers, ...sent });
    expect(response.status).toBe(200);
    return response.json();
  };
  const pending = async () =>
    ((await elsewhere("GET", "/approvals?state=pending")) as { items: { id: string; tool: string }[] }).items;
  const run = (client: Connected, planId: string) => client.call("run_plan", { planId, input: { log: log() } });

  it.each(CLIENT_NAMES)("approves there what %s asks for in plain words, and hears what came of it", async (name) => {
    const args = prepare();
    let answer: Answerer = () => ({ action: "accept", content: { decision: "approve" } });
    const client = await connect(name, stdio(...args, "--may-approve"), (message) => answer(message));
    await client.tools();
    const ask = () =>
      client.call("ask", { message: "erase it", plan: [{ tool: "desk::erase", args: { log: log() } }] });
    expect((await ask()).structured).toMatchObject({ status: "answered" });
    expect(erased()).toBe(1);
    answer = () => ({ action: "accept", content: { decision: "deny", feedback: "not today" } });
    const refused = await ask();
    expect(refused.structured).toMatchObject({ status: "failed", answer: expect.stringContaining("not today") });
    answer = () => ({ action: "cancel" });
    const left = (await ask()).structured;
    expect(left).toMatchObject({ status: "waiting", next: expect.stringContaining("ergon approvals approve") });
    expect(await pending()).toMatchObject([{ tool: "desk::erase" }]);
    expect(erased()).toBe(1);
  });

  it.each(CLIENT_NAMES)("approves, refuses and leaves open there what %s calls over a pipe", async (name) => {
    const questions: string[] = [];
    let answer: Answerer = () => ({ action: "cancel" });
    const client = await connect(name, stdio(...prepare(), "--may-approve"), (message) => {
      questions.push(message);
      return answer(message);
    });
    await client.tools();

    answer = () => ({ action: "accept", content: { decision: "approve" } });
    expect(await client.call("one_echo", { a: 1 })).toMatchObject({
      isError: false,
      structured: { output: '{"a":1}' },
    });
    expect(questions.at(-1)).toMatch(/one_echo of the MCP server one[^]*│ {3}"a": 1/);
    expect((await run(client, "erase")).structured).toMatchObject({ status: "completed", finalResponse: "done" });
    expect(erased()).toBe(1);

    answer = () => ({ action: "accept", content: { decision: "deny", feedback: "not that one" } });
    const refused = {
      isError: true,
      structured: { code: "approval_denied", message: expect.stringContaining("not that one") },
    };
    expect(await client.call("one_echo", { a: 2 })).toMatchObject(refused);
    answer = () => ({ action: "decline" });
    expect(await client.call("one_echo", { a: 3 })).toMatchObject({
      isError: true,
      structured: { code: "approval_denied" },
    });
    expect(await pending()).toEqual([]);

    answer = () => ({ action: "cancel" });
    const left = await client.call("one_echo", { a: 4 });
    expect(left.structured).toMatchObject({ code: "approval_required", sessionId: expect.any(String) });
    expect(await pending()).toMatchObject([{ id: left.structured["approvalId"], tool: "one_echo" }]);

    // Somebody answers elsewhere while the form is open; what the form says then comes too late.
    answer = async () => {
      const [question] = (await pending()).filter(({ id }) => id !== left.structured["approvalId"]);
      await elsewhere("POST", `/approvals/${question?.id ?? ""}`, { decision: "approve" });
      return { action: "decline" };
    };
    expect(await client.call("one_echo", { a: 5 })).toMatchObject({ structured: { output: '{"a":5}' } });
    expect(questions).toHaveLength(6);
  });

  it.each(CLIENT_NAMES)("is not asked by %s over a pipe that was not started with --may-approve", async (name) => {
    let asked = 0;
    const client = await connect(name, stdio(...prepare()), () => {
      asked += 1;
      return { action: "accept", content: { decision: "approve" } };
    });
    const called = (await client.call("one_echo", { a: 1 })).structured;
    expect(called).toMatchObject({ code: "approval_required", approvalId: expect.any(String) });
    expect(called["message"]).toContain(`ergon approvals approve ${String(called["approvalId"])}`);
    const ran = (await run(client, "erase")).structured;
    const [wait] = ran["waiting"] as readonly { approvalId: string }[];
    expect(ran["next"]).toContain(`ergon approvals approve ${wait?.approvalId ?? "?"}`);
    const plan = [{ tool: "desk::erase", args: { log: log() } }];
    const asks = (await client.call("ask", { message: "erase it", plan })).structured;
    expect(asks).toMatchObject({ status: "waiting", next: expect.stringMatching(/ergon approvals approve apr_\w+/) });
    expect([asked, erased()]).toEqual([0, 0]);
    // The person's own command is what approves it.
    const approved = await ergon(["approvals", "approve", wait?.approvalId ?? "?", "--data", data()], {
      cwd: folder.path,
    });
    expect([approved.code, erased()]).toEqual([0, 1]);
  });

  it("is not asked there about what is asked about each time", async () => {
    let asked = 0;
    const client = await connect("SDK v2, 2026", stdio(...prepare(), "--may-approve"), () => {
      asked += 1;
      return { action: "accept", content: { decision: "approve" } };
    });
    const { structured } = await run(client, "always");
    expect(structured).toMatchObject({ status: "paused_on_human", waiting: [{ kind: "approval" }] });
    expect(structured["next"]).toContain("ergon approvals approve");
    expect([asked, erased()]).toEqual([0, 0]);
    const [{ id } = { id: "" }] = await pending();
    const approved = await ergon(["approvals", "approve", id, "--data", data()], { cwd: folder.path });
    expect([approved.code, erased()]).toEqual([0, 1]);
  });

  it("is asked over HTTP with a person's token, and never with an agent's; beside a server, too", async () => {
    const args = prepare();
    const { url, token } = await serve({ args });
    const added = await ergon(["token", "add", "bot", "--data", data()], { cwd: folder.path });
    let asked = 0;
    const yes: Answerer = () => {
      asked += 1;
      return { action: "accept", content: { decision: "approve" } };
    };
    for (const name of CLIENT_NAMES) {
      const agent = await connect(name, { kind: "http", url, token: added.out.trim() }, yes);
      expect((await run(agent, "erase")).structured).toMatchObject({ status: "paused_on_human" });
      expect((await agent.call("one_echo", {})).structured).toMatchObject({ code: "approval_required" });
    }
    expect([asked, erased()]).toEqual([0, 0]);
    for (const name of CLIENT_NAMES) {
      const person = await connect(name, { kind: "http", url, token }, yes);
      expect((await run(person, "erase")).structured).toMatchObject({ status: "completed" });
    }
    const beside = await connect("SDK v2, 2025", stdio(...args, "--may-approve"), yes);
    expect((await run(beside, "erase")).structured).toMatchObject({ status: "completed" });
    expect((await run(beside, "always")).structured).toMatchObject({ status: "paused_on_human" });
    expect([asked, erased()]).toEqual([4, 4]);
  });
});
