import { createEngineWorld, type EngineWorld } from "@ergon/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LOCAL_TOKEN, serve, type Served } from "./serve.fixture.ts";

let world: EngineWorld;
let served: Served;
let erased: unknown[];
let ann: string;
let bot: string;

beforeEach(async () => {
  world = createEngineWorld();
  served = await serve(world);
  erased = [];
  world.registry.register({
    definition: {
      id: "probe::erase",
      description: "Erases.",
      parameters: { type: "object" },
      effects: "once",
      destructiveHint: true,
    },
    implementation: (args: unknown) => {
      erased.push(args);
      return Promise.resolve({ gone: args });
    },
  });
  ann = await served.tokenFor("ann", "person");
  const made = await served.ask("POST", "/tokens", { token: ann, body: { name: "bot" } });
  bot = String(made.body["token"]);
});
afterEach(async () => {
  await served.close();
  await world.close();
});

const call = (token: string, args: unknown, headers = {}) =>
  served.ask("POST", "/tools/probe::erase/call", { token, body: { args }, headers });
const list = async (token: string, query = "?state=pending") =>
  (await served.ask("GET", `/approvals${query}`, { token })).body["items"] as readonly Record<string, unknown>[];
const answer = (token: string, id: unknown, body: unknown) =>
  served.ask("POST", `/approvals/${String(id)}`, { token, body });

describe("a call that a person must approve", () => {
  it("is accepted with the approval's id, waits in a session, and is made once after the yes", async () => {
    const odd = { path: { jsonPath: "$.context" }, text: "{{$.promptInput}}", 'a"b\\c': 1 };
    const asked = await call(bot, odd);
    expect(asked).toMatchObject({ status: 202, body: { approvalId: expect.stringMatching(/^apr_/) } });
    const { approvalId, sessionId } = asked.body;
    expect(await list(bot)).toMatchObject([
      { id: approvalId, tool: "probe::erase", server: null, parameters: odd, state: "pending", sessionId },
    ]);
    expect(await answer(ann, approvalId, { decision: "approve" })).toMatchObject({
      status: 200,
      body: { state: "approved", decidedBy: "ann" },
    });
    const settled = await served.ask("GET", `/sessions/${String(sessionId)}`, { token: bot, headers: wait(10) });
    expect(settled.body).toMatchObject({ core: { status: "completed" } });
    expect(erased).toEqual([odd]);
    const { body } = await served.ask("GET", `/sessions/${String(sessionId)}/trace`, { token: bot });
    const types = (body["items"] as readonly { type: string }[]).map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(["approval-requested", "approval-decided", "session-completed"]));
  });

  it("answers with the outcome when its caller prefers to wait", async () => {
    const waiting = call(bot, { n: 1 }, wait(30));
    const id = await pending();
    await answer(ann, id, { decision: "approve" });
    expect(await waiting).toMatchObject({ status: 200, body: { output: { gone: { n: 1 } } } });
  });

  it("answers with the person's refusal, and what they said", async () => {
    const waiting = call(bot, {}, wait(30));
    await answer(ann, await pending(), { decision: "deny", feedback: "ask Bob first" });
    expect(await waiting).toMatchObject({
      status: 403,
      body: { code: "approval_denied", detail: "A person refused this call: ask Bob first" },
    });
    expect(erased).toEqual([]);
  });

  it("is accepted when nobody answers for as long as its caller waits", async () => {
    const asked = await call(bot, {}, wait(0.05));
    expect(asked).toMatchObject({ status: 202, body: { approvalId: expect.any(String) } });
    expect(await list(bot)).toHaveLength(1);
  });

  it("counts as approved when a person typed it on this machine", async () => {
    const body = { args: { n: 2 }, typed: true };
    const typed = await served.ask("POST", "/tools/probe::erase/call", { token: LOCAL_TOKEN, body });
    expect(typed).toMatchObject({ status: 200, body: { output: { gone: { n: 2 } } } });
  });
});

describe("who answers", () => {
  it("is never an agent, not even of its own question, by whatever door", async () => {
    const { approvalId, sessionId } = (await call(bot, {})).body;
    expect((await answer(bot, approvalId, { decision: "approve" })).status).toBe(403);
    for (const input of [{ action: "retry" }, { decision: "approve" }, true]) {
      const resumed = await served.ask("POST", `/sessions/${String(sessionId)}/resume`, {
        token: bot,
        body: { input },
      });
      expect(resumed).toMatchObject({ status: 409, body: { code: "wait_not_open" } });
    }
    expect(erased).toEqual([]);
    expect(await list(bot)).toMatchObject([{ state: "pending" }]);
  });

  it("is the person who made the agent's token, or the first one; for others there is no such question", async () => {
    const bob = await served.tokenFor("bob", "person");
    const { approvalId } = (await call(bot, {})).body;
    expect(await list(bob)).toEqual([]);
    for (const decision of ["approve", "deny"]) {
      expect(await answer(bob, approvalId, { decision })).toMatchObject({
        status: 404,
        body: { code: "approval_not_found" },
      });
    }
    expect((await served.ask("GET", `/approvals/${String(approvalId)}`, { token: bob })).status).toBe(404);
    expect(await list(ann)).toMatchObject([{ id: approvalId, owner: "bot" }]);
    const other = { token: LOCAL_TOKEN, headers: { "ergon-owner": "stdio%3Aeditor" } };
    expect((await served.ask("GET", "/approvals", other)).body["items"]).toEqual([]);
    const first = await served.ask("POST", `/approvals/${String(approvalId)}`, { body: { decision: "deny" } });
    expect(first).toMatchObject({ status: 200, body: { decidedBy: "admin" } });
  });

  it("says the same twice and is heard once; says otherwise and is refused", async () => {
    const { approvalId } = (await call(bot, {})).body;
    const both = await Promise.all([1, 2].map(() => answer(ann, approvalId, { decision: "approve" })));
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect(await answer(ann, approvalId, { decision: "deny" })).toMatchObject({
      status: 409,
      body: { code: "approval_decided" },
    });
    await expect.poll(() => erased.length).toBe(1);
  });

  it("is told what is wrong with an answer, and nothing has changed then", async () => {
    const { approvalId } = (await call(bot, {})).body;
    for (const body of [
      {},
      { decision: "maybe" },
      { decision: "approve", remember: "forever" },
      { decision: "approve", remember: "server" },
      { decision: "deny", remember: "tool" },
      { decision: "deny", feedback: "x".repeat(2_001) },
    ]) {
      expect((await answer(ann, approvalId, body)).status).toBe(422);
    }
    for (const id of ["x", `apr_${"0".repeat(32)}`, "apr_..", "%2e%2e"]) {
      expect((await answer(ann, id, { decision: "approve" })).status).toBe(404);
    }
    expect(await list(ann)).toMatchObject([{ id: approvalId, state: "pending" }]);
    expect((await served.ask("GET", "/approvals?state=odd", { token: ann })).status).toBe(422);
  });

  it("can allow a tool for good, and is not asked again", async () => {
    const { approvalId } = (await call(bot, { n: 1 })).body;
    await answer(ann, approvalId, { decision: "approve", remember: "tool" });
    expect(await call(bot, { n: 2 })).toMatchObject({ status: 200, body: { output: { gone: { n: 2 } } } });
  });

  it("reads pages of questions, newest first", async () => {
    for (const n of [1, 2, 3]) await call(bot, { n });
    const first = await served.ask("GET", "/approvals?limit=2", { token: bot });
    expect(first.body["items"]).toHaveLength(2);
    const cursor = encodeURIComponent(String(first.body["nextCursor"]));
    const second = await served.ask("GET", `/approvals?limit=2&cursor=${cursor}`, { token: bot });
    expect(second.body["items"]).toHaveLength(1);
    expect(second.body["nextCursor"]).toBeUndefined();
  });
});

function wait(seconds: number): Record<string, string> {
  return { prefer: `wait=${String(seconds)}` };
}

async function pending(): Promise<unknown> {
  await expect.poll(async () => (await list(ann)).length, { timeout: 10_000 }).toBe(1);
  return (await list(ann))[0]?.["id"];
}
