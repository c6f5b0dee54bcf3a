import { request } from "node:http";
import { connect } from "node:net";
import type { ErgonError } from "@ergon/core";
import { Problem, storeError } from "@ergon/core/schema";
import { createEngineWorld, type EngineWorld } from "@ergon/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { HttpParts } from "./server/http-parts.ts";
import { BODY_LIMITS, MAX_DISCARDED_BYTES } from "./server/json-body.ts";
import { REQUEST_LIMITS } from "./server/limits.ts";
import { MAX_HEADER_BYTES } from "./server/server.ts";
import { type Asked, FIRST_TOKEN, LOCAL_TOKEN, serve, type Served } from "./serve.fixture.ts";

describe("the HTTP server refuses", () => {
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

  it("401: no token, a wrong one, one in the wrong place", async () => {
    const answers = [
      await served.ask("GET", "/sessions", { token: null }),
      await served.ask("GET", "/sessions", { token: "wrong" }),
      await served.ask("GET", "/sessions", { token: "x".repeat(5_000) }),
      await served.ask("GET", `/sessions?token=${FIRST_TOKEN}&access_token=${FIRST_TOKEN}`, { token: null }),
      await served.ask("GET", "/sessions", { token: null, headers: { authorization: `Basic ${FIRST_TOKEN}` } }),
      await served.ask("GET", "/sessions", { token: null, headers: { cookie: `token=${FIRST_TOKEN}` } }),
      await served.ask("GET", "/nowhere", { token: null }),
    ];
    for (const answer of answers) {
      expectProblem(answer, 401, "unauthorized");
      expect(answer.headers.get("www-authenticate")).toContain("Bearer");
    }
  });

  it("403: a foreign host or page, an agent where a person is needed", async () => {
    expectProblem(
      await served.ask("GET", "/healthz", { headers: { origin: "http://evil.example" } }),
      403,
      "origin_denied",
    );
    expectProblem(await served.ask("GET", "/sessions", { headers: { origin: "null" } }), 403, "origin_denied");
    expect(await statusFor("evil.example")).toBe(403);
    expect(await statusFor("evil.example", "/healthz")).toBe(403);
    expect(await statusFor("localhost:1")).toBe(200);
    const agent = await served.tokenFor("bot", "agent");
    expectProblem(await served.ask("POST", "/tokens", { token: agent, body: { name: "x" } }), 403, "forbidden");
    expectProblem(await served.ask("POST", "/sessions", { body: { sessionId: "mine" } }), 403, "forbidden");
    expectProblem(await served.ask("GET", "/sessions", { headers: { "ergon-owner": "bob" } }), 403, "forbidden");
    const create = { planId: "hold", create: true };
    expectProblem(await served.ask("POST", "/sessions/mine/execute-plan", { body: create }), 403, "forbidden");
  });

  it("404: what is not there", async () => {
    expectProblem(await served.ask("GET", "/sessions/none"), 404, "session_not_found");
    expectProblem(await served.ask("GET", "/sessions/%00"), 404, "session_not_found");
    expectProblem(await served.ask("GET", `/sessions/${"x".repeat(400)}`), 404, "session_not_found");
    expectProblem(await served.ask("GET", "/sessions/none/events"), 404, "session_not_found");
    expectProblem(await served.ask("GET", "/sessions/none/trace"), 404, "session_not_found");
    expectProblem(await served.ask("POST", "/sessions/none/cancel"), 404, "session_not_found");
    expectProblem(await run(await newSession(), "none"), 404, "plan_not_found");
    expectProblem(await served.ask("GET", "/plans/none"), 404, "plan_not_found");
    expectProblem(await served.ask("GET", `/blobs/${"0".repeat(64)}`), 404, "blob_not_found");
    expectProblem(await served.ask("GET", "/blobs/x"), 404, "blob_not_found");
    expectProblem(await served.ask("DELETE", "/tokens/none"), 404, "token_not_found");
    expectProblem(await served.ask("GET", "/nowhere"), 404, "route_not_found");
  });

  it("400: more than one host, in two headers or in the target and the header", async () => {
    const own = `127.0.0.1:${new URL(served.url).port}`;
    const answer = (target: string, ...hosts: string[]) =>
      raw(`GET ${target} HTTP/1.1\r\n${hosts.map((host) => `Host: ${host}\r\n`).join("")}Connection: close\r\n\r\n`);
    for (const [target, ...hosts] of [
      ["/healthz", own, own],
      ["/healthz", own, "evil.example"],
      ["/healthz", "evil.example", own],
      ["http://evil.example/healthz", own],
      [`http://user@${own}/healthz`, own],
      ["//evil.example/healthz:80", own, own],
    ] as const) {
      expect(await answer(target, ...hosts)).toMatch(/^HTTP\/1.1 400 [^]*"code":"bad_request"/);
    }
    expect(await answer("/healthz", own)).toMatch(/^HTTP\/1.1 200 /);
    expect(await answer(`http://${own}/healthz`, own)).toMatch(/^HTTP\/1.1 200 /);
  });

  it("405 with what is possible, 415 for another type, 400 for what is no JSON", async () => {
    const wrong = await served.ask("DELETE", "/sessions");
    expectProblem(wrong, 405, "method_not_allowed");
    expect(wrong.headers.get("allow")).toBe("GET, HEAD, POST");
    const text = await served.ask("POST", "/sessions", { raw: "{}", headers: { "content-type": "text/plain" } });
    expectProblem(text, 415, "media_type_unsupported");
    expectProblem(await served.ask("POST", "/sessions", { raw: "{" }), 400, "body_not_json");
    expectProblem(
      await served.ask("POST", "/sessions", { raw: Uint8Array.of(0x22, 0xff, 0x22) }),
      400,
      "body_not_json",
    );
    expectProblem(await served.ask("GET", "/sessions/%ff"), 400, "bad_request");
  });

  it("409: a session that is busy, an answer nobody waits for, one of several waits", async () => {
    const id = await newSession();
    await run(id, "ask-twice", { prefer: "wait=10" });
    expectProblem(await run(id, "hold"), 409, "session_busy");
    expectProblem(
      await served.ask("POST", `/sessions/${id}/resume`, { body: { input: { n: 1 } } }),
      409,
      "wait_ambiguous",
    );
    expectProblem(await served.ask("POST", `/sessions/${id}/resume`, { body: { step: "x" } }), 409, "wait_not_open");
    await served.ask("POST", `/sessions/${id}/cancel`);
    expectProblem(await served.ask("POST", `/sessions/${id}/cancel`), 409, "session_ended");
    expectProblem(await served.ask("POST", "/tokens", { body: { name: "admin" } }), 409, "token_exists");
  });

  it("413: a body over its bound, and takes one at it", async () => {
    const body = (bytes: number) => `{"context":{"a":"${"x".repeat(bytes - 20)}"}}`;
    expect((await served.ask("POST", "/sessions", { raw: body(BODY_LIMITS.bytes) })).status).toBe(201);
    expectProblem(await served.ask("POST", "/sessions", { raw: body(BODY_LIMITS.bytes + 1) }), 413, "body_too_large");
    const local = await served.ask("POST", "/sessions", { raw: body(BODY_LIMITS.bytes * 2), token: LOCAL_TOKEN });
    expect(local.status).toBe(201);
    expect(await raw(`${post("/sessions")}Content-Length: ${MAX_DISCARDED_BYTES * 2}\r\n\r\n{`)).toContain(" 413 ");
    expect(
      await raw(
        `${post("/sessions")}Transfer-Encoding: chunked\r\n\r\n${"400000\r\n".concat("x".repeat(0x400000), "\r\n").repeat(5)}`,
      ),
    ).toContain(" 413 ");
  });

  it("422: what does not fit, with all problems by their place", async () => {
    const unknown = await served.ask("POST", "/sessions", { body: { contxt: {}, mode: "x" } });
    expectProblem(unknown, 422, "input_invalid");
    expect(unknown.body.issues).toEqual([
      expect.objectContaining({ path: "/mode" }),
      { path: "/contxt", code: "unknown_field", message: '"contxt" is not a field here. Did you mean "context"?' },
    ]);
    const id = await newSession();
    const plan = await served.ask("POST", `/sessions/${id}/execute-plan`, {
      body: { plan: { planId: "x", steps: [] } },
    });
    expectProblem(plan, 422, "plan_invalid");
    expect(plan.body.issues?.length).toBeGreaterThan(1);
    expectProblem(await served.ask("POST", `/sessions/${id}/execute-plan`, { body: {} }), 422, "input_invalid");
    expectProblem(
      await served.ask("POST", `/sessions/${id}/execute-plan`, { body: { planId: "a", plan: {} } }),
      422,
      "input_invalid",
    );
    expect((await run(id, "echo", {}, { text: 1 })).status).toBe(422);
    await run(id, "ask", { prefer: "wait=10" });
    expectProblem(
      await served.ask("POST", `/sessions/${id}/resume`, { body: { input: 1 } }),
      422,
      "resume_input_invalid",
    );
    for (const query of ["limit=0", "limit=1001", "limit=x", "status=x", "nonsense=1"]) {
      expectProblem(await served.ask("GET", `/sessions?${query}`), 422, "input_invalid");
    }
    const deep = `{"context":{"a":${"[".repeat(63)}${"]".repeat(63)}}}`;
    expectProblem(await served.ask("POST", "/sessions", { raw: deep }), 422, "body_too_complex");
    const many = { context: { a: Array.from({ length: 50_000 }, () => 0) } };
    expectProblem(await served.ask("POST", "/sessions", { body: many }), 422, "body_too_complex");
  });

  it("429 with when to come back: too fast, too many at once, too many wrong tokens", async () => {
    await open({
      limits: {
        ...REQUEST_LIMITS,
        perSecond: 0.5,
        burst: 2,
        adminFactor: 1,
        atOnce: 1,
        strangersPerSecond: 0.1,
        strangersBurst: 1,
      },
    });
    await served.ask("GET", "/plans");
    await served.ask("GET", "/plans");
    const fast = await served.ask("GET", "/plans");
    expectProblem(fast, 429, "rate_limited");
    expect(fast.headers.get("retry-after")).toBe("2");
    expectProblem(await served.ask("GET", "/plans", { token: "wrong" }), 401, "unauthorized");
    const stranger = await served.ask("GET", "/plans", { token: "wrong" });
    expectProblem(stranger, 429, "rate_limited");
    expect(Number(stranger.headers.get("retry-after"))).toBeGreaterThan(5);
    const token = await served.tokenFor("bot", "agent");
    const made = await served.ask("POST", "/sessions", { token });
    const { core } = await world.engine.readSession({ owner: "bot", sessionId: String(made.body["sessionId"]) });
    await world.engine.executePlan({ owner: "bot", sessionId: core.sessionId, plan: "hold" });
    const waiting = served.ask("GET", `/sessions/${core.sessionId}`, { token, headers: { prefer: "wait=10" } });
    await new Promise((done) => setTimeout(done, 100));
    const crowded = await served.ask("GET", "/plans", { token: await served.tokenFor("other", "agent") });
    expect(crowded.status).toBe(200);
    world.release();
    expect((await waiting).status).toBe(200);
  });

  it("429: more requests at once than allowed", async () => {
    await open({ limits: { ...REQUEST_LIMITS, atOnce: 2 } });
    const id = await newSession();
    await run(id, "hold");
    const waiting = [1, 2].map(() => served.ask("GET", `/sessions/${id}`, { headers: { prefer: "wait=10" } }));
    await new Promise((done) => setTimeout(done, 100));
    expectProblem(await served.ask("GET", "/plans"), 429, "too_many_requests");
    expect((await served.ask("GET", "/healthz")).status).toBe(200);
    world.release();
    for (const { status } of await Promise.all(waiting)) expect(status).toBe(200);
    expect((await served.ask("GET", "/plans")).status).toBe(200);
  });

  it("503 while it is not ready", async () => {
    await open({ isReady: () => false });
    const answer = await served.ask("GET", "/readyz", { token: null });
    expectProblem(answer, 503, "engine_stopping");
    expect(answer.headers.get("retry-after")).toBe("1");
    expect((await served.ask("GET", "/healthz", { token: null })).status).toBe(200);
  });

  it.each(["store_corrupt", "store_unavailable", "ownership_lost"] as const)(
    "503 with the reason while the store says %s, and 200 when it is well again",
    async (code) => {
      let problem: ErgonError | undefined = storeError(code, "The disk is full; nothing was written.");
      await open({ storeHealth: () => problem });
      const answer = await served.ask("GET", "/readyz", { token: null });
      expectProblem(answer, 503, code);
      expect(answer.body).toMatchObject({ detail: "The disk is full; nothing was written." });
      problem = undefined;
      expect((await served.ask("GET", "/readyz", { token: null })).status).toBe(200);
    },
  );

  it("what is no HTTP, too large a head, too slow a request", async () => {
    expect(await raw("nonsense\r\n\r\n")).toMatch(/^HTTP\/1.1 400 [^]*problem\+json[^]*This is not HTTP/);
    expect(await raw(`GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(MAX_HEADER_BYTES)}\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 431 /,
    );
    const small = `GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: ${"x".repeat(MAX_HEADER_BYTES - 200)}\r\n\r\n`;
    expect(await raw(small)).toMatch(/^HTTP\/1.1 200 /);
    await open({ requestTimes: { headersMs: 200, requestMs: 400, idleMs: 1_000 } });
    expect(await raw("GET / HTTP/1.1\r\nHost: localh")).toMatch(/^HTTP\/1.1 408 /);
    expect(await raw(`${post("/sessions")}Content-Length: 10\r\n\r\n{`)).toMatch(/^HTTP\/1.1 408 /);
  });

  function expectProblem(answer: Asked, status: number, code: string): void {
    expect(answer.body).toMatchObject({ status, code });
    expect(answer.status).toBe(status);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(Problem.parse(answer.body).requestId).toBe(answer.headers.get("x-request-id"));
    expect(answer.text).not.toMatch(/\n\s+at |node_modules|\.ts:\d/);
  }

  function post(path: string): string {
    return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${FIRST_TOKEN}\r\nContent-Type: application/json\r\n`;
  }

  /** fetch does not let the Host be chosen. */
  async function statusFor(host: string, path = "/sessions"): Promise<number | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    const headers = { host, authorization: `Bearer ${FIRST_TOKEN}` };
    request(new URL(path, served.url), { headers, agent: false }, (response) => resolve(response.resume().statusCode))
      .on("error", reject)
      .end();
    return promise;
  }

  async function raw(text: string): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    let received = "";
    const socket = connect(Number(new URL(served.url).port), "127.0.0.1", () => socket.write(text));
    socket.on("data", (chunk) => (received += chunk.toString()));
    socket.on("close", () => resolve(received)).on("error", () => resolve(received));
    return promise;
  }
});
