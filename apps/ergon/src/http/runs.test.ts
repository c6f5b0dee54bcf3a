import type { JsonObject } from "@ergon/core";
import { canonicalJson, sha256Hex } from "@ergon/core/schema";
import { createMemoryRequestKeys } from "@ergon/core/store-kit";
import type { RequestKeyStore } from "@ergon/core/engine";
import { createEngineWorld, type EngineWorld } from "@ergon/core/testing";
import { FIRST_PRINCIPAL } from "@ergon/node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MAX_KEPT_CHARS } from "./server/keyed-requests.ts";
import { serve, type Served } from "./serve.fixture.ts";

let world: EngineWorld;
let served: Served;
let requestKeys: RequestKeyStore;
let paid: unknown[];
let payment: () => unknown;

beforeEach(async () => {
  world = createEngineWorld();
  requestKeys = createMemoryRequestKeys();
  served = await serve(world, { requestKeys });
  paid = [];
  payment = () => "paid";
  world.registry.register({
    definition: { id: "probe::charge", description: "Charges.", parameters: { type: "object" }, effects: "once" },
    implementation: (args: unknown) => {
      paid.push(args);
      return Promise.resolve(payment());
    },
  });
});
afterEach(async () => {
  await served.close();
  await world.close();
});

type Asking = { readonly key?: string; readonly wait?: number; readonly token?: string };

const post = (path: string, body: unknown, { key, wait, token }: Asking = {}) =>
  served.ask("POST", path, {
    body,
    headers: {
      ...(key === undefined ? {} : { "idempotency-key": key }),
      ...(wait === undefined ? {} : { prefer: `wait=${String(wait)}` }),
    },
    ...(token === undefined ? {} : { token }),
  });
const coreOf = ({ body }: { readonly body: Record<string, unknown> }) => body["core"] as Record<string, unknown>;
const sessions = async (query = "") =>
  (await served.ask("GET", `/sessions${query}`)).body["items"] as readonly Record<string, unknown>[];
const echo = { planId: "echo", input: { text: "x" } };
const charge = { args: { order: "A-1" } };

describe("POST /runs", () => {
  it("makes a session and starts the plan in it; with Prefer: wait it answers with what came of it", async () => {
    const begun = await post("/runs", echo);
    expect(begun.status).toBe(202);
    const { sessionId } = coreOf(begun);
    expect(begun.headers.get("location")).toBe(`/sessions/${String(sessionId)}`);
    const waited = await post("/runs", echo, { wait: 10 });
    expect(waited).toMatchObject({
      status: 200,
      body: { core: { status: "completed" }, context: { finalResponse: "x" } },
    });
    expect(coreOf(waited)["sessionId"]).not.toBe(sessionId);
  });

  it("gives the run that is there when its id is sent again, and refuses another plan and input", async () => {
    const named = { ...echo, id: "order-A-1" };
    const first = await post("/runs", named, { wait: 10 });
    expect(first).toMatchObject({ status: 200, body: { core: { runId: "order-A-1" } } });
    const again = await post("/runs", named);
    expect(again).toMatchObject({
      status: 202,
      body: { core: { sessionId: coreOf(first)["sessionId"], status: "completed" } },
    });
    const other = await post("/runs", { ...named, input: { text: "y" } });
    expect(other).toMatchObject({ status: 409, body: { code: "run_conflict", details: { runId: "order-A-1" } } });
    expect(await sessions()).toHaveLength(1);
    expect(await sessions("?runId=order-A-1")).toMatchObject([{ runId: "order-A-1" }]);
    expect(await sessions("?runId=order-A-2")).toEqual([]);
  });

  it("answers 410 for a run that was deleted", async () => {
    const { sessionId } = coreOf(await post("/runs", { ...echo, id: "gone" }, { wait: 10 }));
    await world.store.commit({
      sessionId: String(sessionId),
      owner: FIRST_PRINCIPAL,
      expireRuns: "2026-01-02T03:04:05.000Z",
    });
    expect(await post("/runs", { ...echo, id: "gone" })).toMatchObject({ status: 410, body: { code: "run_expired" } });
  });

  it.each([
    [{ ...echo, id: "a b" }, 422, "input_invalid"],
    [{ ...echo, id: 7 }, 422, "input_invalid"],
    [{ input: {} }, 422, "input_invalid"],
    [{ ...echo, sessionId: "s" }, 422, "input_invalid"],
    [{ planId: "ekho", id: "r" }, 404, "plan_not_found"],
    [{ planId: "echo", input: {}, id: "r" }, 422, "plan_invalid"],
  ])("refuses %j and makes nothing", async (body, status, code) => {
    expect(await post("/runs", body)).toMatchObject({ status, body: { code } });
    expect(await sessions()).toEqual([]);
  });
});

describe("Idempotency-Key", () => {
  it("gives the first answer to the same request, which starts nothing again", async () => {
    const first = await post("/runs", echo, { key: "k", wait: 10 });
    const again = await post("/runs", echo, { key: "k" });
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(first.headers.get("idempotency-replayed")).toBeNull();
    expect(await sessions()).toHaveLength(1);
    expect((await post("/runs", echo, { key: "l" })).status).toBe(202);
    expect(await sessions()).toHaveLength(2);
  });

  it("refuses another body, and another route, under the same key", async () => {
    await post("/runs", echo, { key: "k" });
    const refused = { status: 409, body: { code: "run_conflict" } };
    expect(await post("/runs", { ...echo, input: { text: "y" } }, { key: "k" })).toMatchObject(refused);
    expect(await post("/tools/probe::charge/call", charge, { key: "k" })).toMatchObject(refused);
    expect(paid).toEqual([]);
    expect(await sessions()).toHaveLength(1);
  });

  it("keeps principals apart", async () => {
    const bot = await served.tokenFor("bot", "agent");
    await post("/runs", echo, { key: "k" });
    const other = await post("/runs", { ...echo, input: { text: "bot" } }, { key: "k", token: bot, wait: 10 });
    expect(other).toMatchObject({ status: 200, body: { context: { finalResponse: "bot" } } });
  });

  it("makes requests wait that come while the first is under way", async () => {
    const held = Promise.withResolvers<string>();
    payment = () => held.promise;
    const asked = Array.from({ length: 5 }, () => post("/tools/probe::charge/call", charge, { key: "k" }));
    await expect.poll(() => paid.length).toBe(1);
    held.resolve("receipt");
    const answers = await Promise.all(asked);
    expect(answers.map(({ status, body }) => [status, body["output"]])).toEqual(answers.map(() => [200, "receipt"]));
    expect(paid).toHaveLength(1);
  });

  it("keeps no refused request, so that it can be mended and sent with the same key", async () => {
    expect((await post("/runs", { planId: "echo", input: {} }, { key: "k" })).status).toBe(422);
    expect((await post("/runs", { planId: "ekho" }, { key: "k" })).status).toBe(404);
    expect((await post("/runs", echo, { key: "k" })).status).toBe(202);
  });

  it("tries a call again that has failed, and not one that may have taken effect", async () => {
    payment = () => {
      throw new Error("declined");
    };
    expect((await post("/tools/probe::charge/call", charge, { key: "k" })).body.code).toBe("tool_failed");
    payment = () => "paid";
    expect(await post("/tools/probe::charge/call", charge, { key: "k" })).toMatchObject({ status: 200 });
    expect(paid).toHaveLength(2);
    expect(await post("/tools/probe::charge/call", charge, { key: "k" })).toMatchObject({ body: { output: "paid" } });
    expect(paid).toHaveLength(2);
  });

  it.each(["", "ü", "k".repeat(256)])("refuses %j as a key", async (key) => {
    const answer = await post("/runs", echo, { key }).catch(() => undefined);
    // Node's own client sends no header that is not Latin-1.
    if (answer !== undefined) expect(answer).toMatchObject({ status: 422, body: { code: "input_invalid" } });
    expect(await sessions()).toEqual([]);
  });

  it("holds where an answer is too long to be kept", async () => {
    payment = () => ({ texts: Array.from({ length: 10 }, () => "x".repeat(6_000)) });
    const input = { items: Array.from({ length: 5 }, (_, n) => `${String(n)}${"x".repeat(MAX_KEPT_CHARS / 5)}`) };
    const first = await post("/runs", { planId: "many", input }, { key: "k", wait: 10 });
    expect(first.text.length).toBeGreaterThan(MAX_KEPT_CHARS);
    const again = await post("/runs", { planId: "many", input }, { key: "k", wait: 10 });
    expect(again.headers.get("idempotency-replayed")).toBeNull();
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect(await sessions()).toHaveLength(1);
  });
});

describe("a request whose process died before it could answer", () => {
  it.each([
    ["/runs", echo],
    ["/sessions/mine/execute-plan", echo],
    ["/tools/probe::charge/call", charge],
    ["/message", { content: "hello" }],
  ])("to %s finds what it started, when it is sent again", async (path, body) => {
    await world.engine.createSession({ owner: FIRST_PRINCIPAL, sessionId: "mine" });
    const lost = lossy(requestKeys);
    const dying = await serve(world, { requestKeys: lost });
    const options = { body, headers: { "idempotency-key": "k", prefer: "wait=5" } };
    const first = await dying.ask("POST", path, options);
    await dying.close();
    expect(first.status).toBeLessThan(300);
    const before = [await sessions(), paid.length];
    const again = await served.ask("POST", path, options);
    expect(again.status).toBeLessThan(300);
    const conversation = "conversationId" in first.body;
    if (!conversation) expect(again.body).toEqual(first.body);
    expect([await sessions(), paid.length]).toEqual(before);
  });

  it("to /tools/:id/call is told that its outcome is unknown, when the call may have taken effect", async () => {
    const { startId } = await requestKeys.begin(begun("/tools/:id/call", { id: "probe::charge" }, charge));
    await world.engine.createSession({ owner: FIRST_PRINCIPAL, sessionId: startId });
    const known = await world.store.readSession(startId);
    if (known === undefined) throw new Error("There is no session.");
    const lastError = { code: "outcome_unknown", message: "It was called.", retryable: false };
    const core = { ...known.core, status: "paused_on_error" as const, lastError };
    await world.store.commit({
      sessionId: startId,
      owner: FIRST_PRINCIPAL,
      expectVersion: 1,
      session: { core, cursor: null },
    });
    const again = await post("/tools/probe::charge/call", charge, { key: "k" });
    expect(again).toMatchObject({ status: 502, body: { code: "outcome_unknown" } });
    expect(paid).toEqual([]);
  });

  it("to /loop is not begun again: what it did is in its session", async () => {
    const turn = { mode: "general", sessionId: "talk", messages: [{ role: "user", content: "hello" }] };
    await requestKeys.begin(begun("/loop", {}, turn));
    const again = await post("/loop", turn, { key: "k" });
    expect(again).toMatchObject({ status: 502, body: { code: "outcome_unknown", details: { sessionId: "talk" } } });
  });

  it("still has its key when another body comes", async () => {
    await requestKeys.begin(begun("/runs", {}, echo));
    const other = await post("/runs", { ...echo, input: { text: "y" } }, { key: "k" });
    expect(other).toMatchObject({ status: 409, body: { code: "run_conflict" } });
    expect(await post("/runs", echo, { key: "k" })).toMatchObject({ status: 202, body: { core: { runId: "key_1" } } });
  });
});

/** Keeps that requests have begun, and no answer. */
function lossy(keys: RequestKeyStore): RequestKeyStore {
  return { ...keys, finish: async () => undefined };
}

function begun(path: string, params: JsonObject, body: JsonObject) {
  const at = new Date().toISOString();
  const fingerprint = sha256Hex(canonicalJson(["POST", path, params, body]));
  return { owner: FIRST_PRINCIPAL, key: "k", fingerprint, startId: "key_1", at, since: "" };
}
