import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { createEngineWorld, type EngineWorld, planOf } from "@ergon/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Asked, FIRST_TOKEN, serve, type Served } from "../http/serve.fixture.ts";
import { MAX_WATCHED } from "./host/connection-changes.ts";
import { MAX_QUESTIONS } from "./drive/drive-session.ts";
import { ACCEPT, messagesOf, type RawClient, rawClient, resultOf } from "./transport/raw-client.fixture.ts";

const MiB = 1024 * 1024;
const SCORE = { loop_id: "aaaaaaaa", current_score: 1 };
const ASKING = planOf("test", [
  {
    id: "ask",
    type: "human_in_the_loop",
    message: "Go on?",
    inputSchema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
    nextStepIdOnInput: "end",
  },
  { id: "end", type: "final_response", message: "done" },
]);

let world: EngineWorld;
let served: Served;
let client: RawClient;

beforeEach(async () => {
  world = createEngineWorld();
  served = await serve({ ...world, plans: [ASKING] });
  client = rawClient(served);
});
afterEach(async () => {
  await served.close();
  await world.close();
});

describe("a hostile request to /mcp", () => {
  const post = (raw: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Promise<Asked> =>
    served.ask("POST", "/mcp", { raw, headers: { ...ACCEPT, ...headers } });

  afterEach(async () => {
    // Whatever it was, the server lives and works.
    const listed = resultOf(await client.modern("tools/list"));
    if (!JSON.stringify(listed["tools"]).includes('"run_plan"')) throw new Error("The server does not work any more.");
  });

  it.each([
    ["no JSON", "{", 400, -32_700],
    ["half a text", '{"jsonrpc":"2.0","id":1,"method":"tools/li', 400, -32_700],
    ["bytes that are no text", Uint8Array.of(0xff, 0xfe, 0x00), 400, -32_700],
    ["depth 10,000", `${"[".repeat(10_000)}${"]".repeat(10_000)}`, 422, -32_600],
    ["depth 10,000 in arguments", nested(10_000), 422, -32_600],
    ["a name that is none", '{"jsonrpc":"2.0","id":1,"method":"x","params":{"__proto__":{}}}', 422, -32_600],
    ["4 MiB", JSON.stringify({ jsonrpc: "2.0", id: 1, method: "x", params: { x: "y".repeat(4 * MiB) } }), 413, -32_000],
    ["a million values", `[${"1,".repeat(100_000)}1]`, 422, -32_600],
  ])("that is %s is refused as JSON-RPC with the right status", async (_, raw, status, code) => {
    const asked = await post(raw);
    expect(asked.status).toBe(status);
    expect(asked.body).toMatchObject({ jsonrpc: "2.0", id: null, error: { code, data: { status } } });
    expect(asked.text).not.toContain("    at ");
  });

  it.each([
    ["text", '"hello"'],
    ["a number", "7"],
    ["an empty list", "[]"],
    ["an object of nothing", "{}"],
    ["a request without a version", '{"id":1,"method":"tools/list"}'],
    ["a method that is no text", '{"jsonrpc":"2.0","id":1,"method":7}'],
    ["an id that is an object", '{"jsonrpc":"2.0","id":{},"method":"tools/list"}'],
    ["an answer to nothing", '{"jsonrpc":"2.0","id":1,"result":{}}'],
    ["a call without a session", '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'],
    ["nothing", ""],
  ])("that is %s is refused with a status of 4xx", async (_, raw) => {
    const asked = await post(raw);
    expect(asked.status).toBeGreaterThanOrEqual(400);
    expect(asked.status).toBeLessThan(500);
    expect(asked.body).toMatchObject({ jsonrpc: "2.0", error: { code: expect.any(Number) as number } });
  });

  it("with another content type, method or no wish for an answer is refused", async () => {
    const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
    expect((await post(body, { "content-type": "text/plain" })).status).toBe(415);
    expect((await post(body, { "content-type": "application/xml" })).status).toBe(415);
    expect((await served.ask("PATCH", "/mcp", { body: {} })).status).toBe(405);
    const { session } = await client.open();
    const headers = { accept: "text/html", "mcp-session-id": session };
    expect((await served.ask("POST", "/mcp", { raw: body, headers })).status).toBe(406);
  });

  it("with a wrong or missing token, host or origin is refused before anything is looked at", async () => {
    const body = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const missing = await served.ask("POST", "/mcp", { token: null, body });
    expect(missing.status).toBe(401);
    expect(missing.headers.get("www-authenticate")).toMatch(/^Bearer/);
    expect(missing.body).toMatchObject({ jsonrpc: "2.0", error: { data: { code: "unauthorized" } } });
    expect((await served.ask("POST", "/mcp", { token: "wrong", body })).status).toBe(401);
    expect((await served.ask("GET", "/mcp", { token: "wrong" })).status).toBe(401);
    expect((await served.ask("DELETE", "/mcp", { token: "wrong" })).status).toBe(401);
    const headers = { origin: "http://evil.example" };
    expect(await served.ask("POST", "/mcp", { headers, body })).toMatchObject({ status: 403 });
    expect(await statusForHost(served.url, "evil.example")).toBe(403);
    expect(await statusForHost(served.url, "127.0.0.1.evil.example:80")).toBe(403);
    expect(await statusForHost(served.url, new URL(served.url).host)).toBe(400);
  });

  it("for a method, tool, prompt or resource that there is not gets an error that says so", async () => {
    expect((await client.modern("tools/explode")).status).toBe(404);
    const calls = [
      client.modern("tools/call", { name: "no_such_tool" }),
      client.modern("prompts/get", { name: "no_such_prompt" }),
      client.modern("resources/read", { uri: "ergon://loops/zzzzzzzz" }),
      client.modern("resources/read", { uri: "ergon://loops/%E0%A4%A" }),
      client.modern("resources/read", { uri: "file:///etc/passwd" }),
    ];
    for (const asked of await Promise.all(calls)) expect(resultOf(asked)).toMatchObject({ code: -32_602 });
    const { post: send } = await client.open();
    expect(resultOf(await send("tools/explode"))).toMatchObject({ code: -32_601 });
    expect(resultOf(await send("tools/call", { name: "no_such_tool" }))).toMatchObject({ code: -32_602 });
  });

  it("whose headers say another thing than its body is refused", async () => {
    const asked = await served.ask("POST", "/mcp", {
      headers: { ...ACCEPT, "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" },
      body: {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: {
          name: "list_active_loops",
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
          },
        },
      },
    });
    expect(asked.status).toBe(400);
    expect(resultOf(asked)).toMatchObject({ code: -32_020 });
  });

  it("with odd arguments gets a failure of its tool, not of the server", async () => {
    for (const odd of [undefined, {}, { loop_id: {} }, { loop_id: "\0", current_score: 1e308 }, { constructor: 1 }]) {
      const asked = await client.modern("tools/call", { name: "decide_loop_next_action", arguments: odd });
      expect(resultOf(asked)).toMatchObject({ isError: true, structuredContent: { code: "loop_validation" } });
    }
    const asked = await client.modern("tools/call", { name: "decide_loop_next_action", arguments: [1] });
    expect(resultOf(asked)).toMatchObject({ code: -32_602 });
  });
});

describe("a session of the older era", () => {
  it("is not there for another principal, nor after its end", async () => {
    const token = await served.tokenFor("bob", "agent");
    const { session, post } = await client.open();
    expect((await post("tools/list")).status).toBe(200);
    const headers = { ...ACCEPT, "mcp-session-id": session };
    const body = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    expect((await served.ask("POST", "/mcp", { token, headers, body })).status).toBe(404);
    expect((await served.ask("DELETE", "/mcp", { token, headers })).status).toBe(404);
    expect((await served.ask("DELETE", "/mcp", { headers })).status).toBe(200);
    expect((await post("tools/list")).status).toBe(404);
  });
});

describe("what is remembered between rounds", () => {
  const capabilities = { elicitation: { form: {} } };
  const run = { name: "plan_test", arguments: {} };
  const answers = { answer: { action: "accept", content: { ok: true } } };

  it("brings the answer to the session that asked, once", async () => {
    const asked = resultOf(await client.modern("tools/call", run, { capabilities }));
    expect(asked).toMatchObject({ resultType: "input_required", requestState: expect.any(String) as string });
    const second = { ...run, inputResponses: answers, requestState: asked["requestState"] };
    const done = resultOf(await client.modern("tools/call", second, { capabilities }));
    expect(done).toMatchObject({ structuredContent: { status: "completed", finalResponse: "done" } });
    const again = resultOf(await client.modern("tools/call", second, { capabilities }));
    expect(again["structuredContent"]).toEqual(done["structuredContent"]);
    const { items } = resultOf(await client.modern("tools/call", { name: "list_sessions" }))["structuredContent"] as {
      items: unknown[];
    };
    expect(items).toHaveLength(1);
  });

  it("ends after so many questions; the next is in the result", async () => {
    const questions = Array.from({ length: MAX_QUESTIONS + 1 }, (_, at) => ({
      id: `q${at}`,
      type: "human_in_the_loop",
      message: `Question ${at}?`,
      nextStepIdOnInput: at === MAX_QUESTIONS ? "end" : `q${at + 1}`,
    }));
    const plan = planOf("many", [...questions, { id: "end", type: "final_response", message: "done" }] as never);
    const call = { name: "run_plan", arguments: { plan, input: {} } };
    let asked = resultOf(await client.modern("tools/call", call, { capabilities }));
    let rounds = 0;
    while (asked["resultType"] === "input_required") {
      rounds += 1;
      const inputResponses = { answer: { action: "accept", content: { answer: "yes" } } };
      const next = { ...call, inputResponses, requestState: asked["requestState"] };
      asked = resultOf(await client.modern("tools/call", next, { capabilities }));
    }
    expect(rounds).toBe(MAX_QUESTIONS);
    expect(asked).toMatchObject({
      structuredContent: { status: "paused_on_human", waiting: [{ stepId: `q${MAX_QUESTIONS}` }] },
    });
  });

  it("is refused when it was changed, is another's, or belongs to another request", async () => {
    const token = await served.tokenFor("bob", "agent");
    const { requestState } = resultOf(await client.modern("tools/call", run, { capabilities }));
    const state = String(requestState);
    const refused = { code: -32_602, message: "Invalid or expired requestState" };
    const send = (params: Record<string, unknown>, options = {}) =>
      client.modern("tools/call", { inputResponses: answers, ...params }, { capabilities, ...options });
    const tries = [
      send({ ...run, requestState: `${state}x` }),
      send({ ...run, requestState: `${state.slice(0, -2)}AA` }),
      send({ ...run, requestState: "" }),
      send({ ...run, requestState: state }, { token }),
      send({ name: "run_plan", arguments: { planId: "test" }, requestState: state }),
      send({ ...run, arguments: { other: 1 }, requestState: state }),
    ];
    for (const asked of await Promise.all(tries)) expect(resultOf(asked)).toMatchObject(refused);
    expect(resultOf(await send({ ...run, requestState: state }))).toMatchObject({
      structuredContent: { status: "completed" },
    });
  });
});

describe("notifications", () => {
  it("of resources can be subscribed to up to the bound", { timeout: 30_000 }, async () => {
    const { post } = await client.open();
    const subscribe = async (uri: string) => resultOf(await post("resources/subscribe", { uri }));
    for (let at = 0; at < MAX_WATCHED; at += 1) expect(await subscribe(`ergon://loops/${at}`)).toEqual({});
    expect(await subscribe("ergon://loops/0")).toEqual({});
    expect(await subscribe("ergon://loops/one-more")).toMatchObject({ code: -32_602 });
    await post("resources/unsubscribe", { uri: "ergon://loops/0" });
    expect(await subscribe("ergon://loops/one-more")).toEqual({});
  });

  it("of progress and of every decision reach a client that wants them", async () => {
    const { post } = await client.open();
    const { structuredContent: loop } = resultOf(
      await post("tools/call", { name: "initialize_refinement_loop", arguments: { loop_type: "plan" } }),
    ) as { structuredContent: { id: string } };
    const decide = {
      name: "decide_loop_next_action",
      arguments: { ...SCORE, loop_id: loop.id },
      _meta: { progressToken: "p" },
    };
    const methods = (asked: Asked) => messagesOf(asked).map(({ method }) => method);
    expect(methods(await post("tools/call", decide))).toEqual([
      "notifications/progress",
      "notifications/message",
      undefined,
    ]);
    await post("logging/setLevel", { level: "error" });
    expect(methods(await post("tools/call", decide))).toEqual(["notifications/progress", undefined]);
  });
});

/** As a page would send it whose name leads here; fetch does not let its callers choose. */
async function statusForHost(url: string, host: string): Promise<number | undefined> {
  const headers = { ...ACCEPT, host, authorization: `Bearer ${FIRST_TOKEN}`, "content-type": "application/json" };
  const sent = request(new URL("/mcp", url), { method: "POST", headers });
  sent.end('{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

function nested(depth: number): string {
  const value = `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
  return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_plan","arguments":${value}}}`;
}
