import { connect } from "node:net";
import { createMemoryLogger } from "@ergon/core/store-kit";
import { createEngineWorld, type EngineWorld } from "@ergon/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { HttpParts } from "./http-parts.ts";
import { FIRST_TOKEN, serve, type Served } from "../serve.fixture.ts";

describe("the HTTP server", () => {
  let world: EngineWorld;
  let served: Served;
  const open = async (options: Partial<HttpParts> = {}): Promise<Served> => {
    await served.close();
    served = await serve(world, options);
    return served;
  };
  const newSession = async (): Promise<string> => String((await served.ask("POST", "/sessions")).body["sessionId"]);
  const run = (sessionId: string, planId: string, headers = {}, input: unknown = {}) =>
    served.ask("POST", `/sessions/${sessionId}/execute-plan`, { body: { planId, input }, headers });

  beforeEach(async () => {
    world = createEngineWorld();
    served = await serve(world);
  });
  afterEach(async () => {
    world.release();
    await served.close();
    await world.close();
  });

  describe("answers", () => {
    it("201 with the session and where it is", async () => {
      const made = await served.ask("POST", "/sessions", { body: { context: { a: 1 }, mode: "analyst" } });
      expect(made).toMatchObject({ status: 201, body: { status: "paused", mode: "analyst", waiting: [] } });
      const read = await served.ask("GET", made.headers.get("location") ?? "");
      expect(read).toMatchObject({ status: 200, body: { core: made.body, context: { a: 1 }, history: [] } });
    });

    it("202 at once, and 200 with all of it when the caller waits and it settles in time", async () => {
      const id = await newSession();
      const accepted = await run(id, "hold");
      expect(accepted).toMatchObject({ status: 202, body: { core: { sessionId: id, status: "running" } } });
      expect(Object.keys(accepted.body)).toEqual(["core"]);
      const late = await served.ask("GET", `/sessions/${id}?view=core`, { headers: { prefer: "wait=0.05" } });
      expect(late.body).toMatchObject({ core: { status: "running" } });
      const other = await newSession();
      const waited = await run(other, "echo", { prefer: "wait=10" }, { text: "hi" });
      expect(waited).toMatchObject({
        status: 200,
        body: { core: { status: "completed" }, context: { finalResponse: "hi" } },
      });
      expect(waited.headers.get("preference-applied")).toBe("wait=10");
      const third = await newSession();
      expect(await run(third, "hold", { prefer: "wait=0.05" })).toMatchObject({
        status: 202,
        body: { core: { status: "running" } },
      });
      expect(await served.ask("POST", `/sessions/${third}/cancel`, { headers: { prefer: "wait=5" } })).toMatchObject({
        status: 200,
        body: { core: { status: "cancelled" } },
      });
    });

    it("200 with pages of sessions, history and trace", async () => {
      const id = await newSession();
      await newSession();
      await run(id, "many", { prefer: "wait=10" }, { items: [1, 2, 3] });
      const first = await served.ask("GET", "/sessions?limit=1");
      expect(first.body["items"]).toHaveLength(1);
      const second = await served.ask(
        "GET",
        `/sessions?limit=1&cursor=${encodeURIComponent(String(first.body["nextCursor"]))}`,
      );
      expect(second.body["items"]).toMatchObject([{ sessionId: id }]);
      expect((await served.ask("GET", "/sessions?status=completed,failed")).body["items"]).toMatchObject([
        { sessionId: id },
      ]);
      expect((await served.ask("GET", "/sessions?status=failed&status=cancelled")).body["items"]).toEqual([]);
      const part = await served.ask("GET", `/sessions/${id}?limit=2`);
      expect(part.body["history"]).toMatchObject([{ result: { output: 2 } }, { result: { output: 3 } }]);
      const trace = await served.ask("GET", `/sessions/${id}/trace?limit=2`);
      expect(trace.body["items"]).toMatchObject([{ type: "session-created" }, { type: "session-started" }]);
      const rest = await served.ask("GET", `/sessions/${id}/trace?cursor=${String(trace.body["nextCursor"])}`);
      expect((rest.body["items"] as unknown[]).at(-1)).toMatchObject({ type: "session-completed" });
      expect(rest.body["nextCursor"]).toBeUndefined();
    });

    it("with plans, tools and capabilities", async () => {
      const plans = await served.ask("GET", "/plans");
      expect(plans.body["items"]).toContainEqual(expect.objectContaining({ planId: "echo" }));
      expect((await served.ask("GET", "/plans/echo")).body).toMatchObject({ planId: "echo", startStepId: "call" });
      const tools = await served.ask("GET", "/tools");
      expect(tools.body["items"]).toContainEqual(expect.objectContaining({ id: "probe::echo", effects: "idempotent" }));
      const capabilities = await served.ask("GET", "/capabilities");
      expect(capabilities.body["items"]).toHaveLength(world.plans.length + world.registry.list().length);
      const found = await served.ask("POST", "/capabilities/discover", { body: { query: "echo something", limit: 2 } });
      expect(found.body["items"]).toMatchObject([
        { id: "echo", kind: "plan" },
        { id: "probe::echo", kind: "tool" },
      ]);
      const fine = await served.ask("POST", "/plans/validate", { body: { plan: world.plans[0] } });
      expect(fine.body).toMatchObject({ ok: true, problems: [], estimate: { toolCalls: 1 } });
      const wrong = await served.ask("POST", "/plans/validate", { body: { plan: { planId: "x" } } });
      expect(wrong).toMatchObject({ status: 200, body: { ok: false } });
      expect((wrong.body["problems"] as unknown[]).length).toBeGreaterThan(1);
    });

    it("with what a tool gave, or why it did not", async () => {
      const echoed = await served.ask("POST", "/tools/probe::echo/call", { body: { args: { value: [1] } } });
      expect(echoed).toMatchObject({ status: 200, body: { output: [1] } });
      const inSession = { args: { value: 2 }, sessionId: await newSession() };
      expect(await served.ask("POST", "/tools/probe::echo/call", { body: inSession })).toMatchObject({ status: 200 });
      const foreign = await served.ask("POST", "/tools/probe::echo/call", {
        body: { ...inSession, sessionId: "none" },
      });
      expect(foreign).toMatchObject({ status: 404, body: { code: "session_not_found" } });
      const failed = await served.ask("POST", "/tools/probe::fail/call", { body: {} });
      expect(failed).toMatchObject({ status: 502, body: { code: "tool_failed" } });
      expect(failed.text).not.toMatch(/\bat .*\.ts/);
      expect(await served.ask("POST", "/tools/probe::ekho/call")).toMatchObject({
        status: 404,
        body: { code: "tool_not_found" },
      });
    });

    it("with a blob's bytes and type, which no browser would run", async () => {
      const id = await newSession();
      await run(id, "large", { prefer: "wait=10" });
      const { body } = await served.ask("GET", `/sessions/${id}`);
      const { $blob } = (body["context"] as Record<string, { $blob: string }>)["probe::large_result"] ?? { $blob: "" };
      const blob = await served.ask("GET", `/blobs/${$blob}`);
      expect(blob.headers.get("content-type")).toBe("application/json");
      expect(blob.headers.get("content-security-policy")).toContain("sandbox");
      expect(JSON.parse(blob.text)).toBe("x".repeat(70_000));
    });

    it("health without a token, figures with one", async () => {
      for (const path of ["/healthz", "/readyz"]) {
        expect(await served.ask("GET", path, { token: null })).toMatchObject({ status: 200, body: { status: "ok" } });
      }
      expect((await served.ask("GET", "/stats")).body).toMatchObject({
        version: "0.0.0",
        activeRuns: 0,
        eventStreams: 0,
      });
      const { text, headers } = await served.ask("GET", "/metrics");
      expect(headers.get("content-type")).toContain("text/plain");
      expect(text).toContain('ergon_http_requests_total{method="GET",route="/stats",status="200"} 1');
      expect(text).toContain("ergon_event_streams 0");
    });

    it("with headers that keep browsers from doing anything with it, refusals included", async () => {
      for (const { headers } of [
        await served.ask("GET", "/sessions"),
        await served.ask("GET", "/x", { token: null }),
      ]) {
        expect(headers.get("x-content-type-options")).toBe("nosniff");
        expect(headers.get("cache-control")).toBe("no-store");
        expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
        expect(headers.get("access-control-allow-origin")).toBeNull();
        expect(headers.get("x-request-id")).toMatch(/^[\w-]+$/);
      }
    });

    it("HEAD as GET, without the body", async () => {
      const { status, text, headers } = await served.ask("HEAD", "/plans/echo");
      expect([status, text]).toEqual([200, ""]);
      expect(Number(headers.get("content-length"))).toBeGreaterThan(10);
      expect((await served.ask("HEAD", "/events")).status).toBe(405);
    });
  });

  it("takes no more connections than it may", async () => {
    await open({ maxConnections: 2 });
    const { port } = new URL(served.url);
    const sockets = [1, 2, 3].map(() => connect(Number(port), "127.0.0.1").on("error", () => undefined));
    await expect.poll(() => sockets.filter(({ destroyed }) => destroyed)).toHaveLength(1);
    for (const socket of sockets) socket.destroy();
  });

  it("shows nothing of what it did not foresee, and logs it with its request id, without any token", async () => {
    const logger = createMemoryLogger();
    await open({
      logger,
      outbox: { lastSeq: async () => 0, read: () => Promise.reject(new Error("secret inside")) },
    });
    const id = await newSession();
    const answer = await served.ask("GET", `/sessions/${id}/trace`);
    expect(answer).toMatchObject({ status: 500, body: { code: "internal" } });
    expect(answer.text).not.toContain("secret");
    await served.ask("GET", "/sessions?cursor=canary-in-query", { headers: { cookie: "canary" } });
    const logged = JSON.stringify(logger.entries());
    expect(logged).toContain("secret inside");
    expect(logged).toContain(answer.body.requestId);
    expect(logged).toContain(id);
    expect(logged).not.toContain(FIRST_TOKEN);
    expect(logged).not.toContain("canary");
  });

  describe("when it closes", () => {
    it("ends at once what only waits, lets work end, and leaves nothing open", async () => {
      const id = await newSession();
      await run(id, "hold");
      const waiting = served.ask("GET", `/sessions/${id}`, { headers: { prefer: "wait=60" } });
      const calling = served.ask("POST", "/tools/probe::hold/call");
      const idle = connect(Number(new URL(served.url).port), "127.0.0.1");
      await new Promise((done) => setTimeout(done, 100));
      const startedMs = performance.now();
      const closing = served.server.close({ graceMs: 5_000 });
      expect(await waiting).toMatchObject({ status: 200, body: { core: { status: "running" } } });
      await expect(served.ask("GET", "/healthz")).rejects.toThrow("fetch failed");
      world.release();
      expect(await calling).toMatchObject({ status: 200, body: { output: "let go" } });
      idle.destroy();
      await closing;
      expect(performance.now() - startedMs).toBeLessThan(2_000);
    });

    it("cuts off what takes longer than the grace", async () => {
      const calling = served.ask("POST", "/tools/probe::hold/call");
      calling.catch(() => undefined);
      await new Promise((done) => setTimeout(done, 100));
      await served.server.close({ graceMs: 100 });
      await expect(calling).rejects.toThrow("fetch failed");
    });
  });
});
