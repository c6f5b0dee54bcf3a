import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@ergon/core";
import { createEngineWorld, type EngineWorld } from "@ergon/core/testing";
import { openSqliteStateStore } from "@ergon/node";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FIRST_TOKEN, serve, type Served } from "./serve.fixture.ts";

type Operation = { readonly method: string; readonly path: string };

const RUNS_PER_ROUTE = 12;

/** Bodies that are almost right go further than bodies that are wholly wrong. */
const field = fc.oneof(
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
  fc.constantFrom(
    "echo",
    "hold",
    "one",
    "retry",
    "agent",
    "general",
    "",
    "__proto__",
    "\u0000",
    "a".repeat(300),
    "💥\ud800",
  ),
  fc.constantFrom(0, -1, 1e308, 2 ** 53, 0.1),
);
const names = [
  "context",
  "mode",
  "energyBudget",
  "sessionId",
  "planId",
  "plan",
  "input",
  "step",
  "args",
  "query",
  "limit",
  "name",
  "scope",
];
const body = fc.oneof(
  fc.dictionary(fc.constantFrom(...names), field, { maxKeys: 4 }).map((value) => JSON.stringify(value)),
  fc
    .record({ plan: fc.record({ planId: field, startStepId: field, steps: fc.array(field), parameters: field }) })
    .map((value) => JSON.stringify(value)),
  fc.jsonValue({ maxDepth: 6 }).map((value) => JSON.stringify(value)),
  fc.string({ maxLength: 50 }),
  fc.constantFrom(
    "",
    "{",
    "[".repeat(5_000),
    '{"a":1e999}',
    '{"__proto__":1}',
    '{"constructor":{"prototype":{"x":1}}}',
    "nul",
  ),
);
const segment = fc.oneof(
  fc.constantFrom(
    "x",
    "echo",
    "probe::echo",
    "admin",
    "0".repeat(64),
    "%00",
    "%2e%2e",
    "%2F",
    "%ff",
    "a%20b",
    ":id",
    "__proto__",
    "constructor",
  ),
  fc.string({ maxLength: 20 }).map((text) => encodeURIComponent(text.toWellFormed()) || "x"),
);
const query = fc.oneof(
  fc.constant(""),
  fc
    .dictionary(
      fc.constantFrom("limit", "cursor", "status", "view", "after", "x"),
      fc.oneof(
        fc.string({ maxLength: 10 }),
        fc.integer().map(String),
        fc.constantFrom("core", "now", "running", "1e3", "__proto__"),
      ),
      { maxKeys: 3 },
    )
    .map((value) => `?${new URLSearchParams(value).toString()}`),
);
const headers = fc.dictionary(
  fc.constantFrom("prefer", "last-event-id", "accept", "content-type", "x-forwarded-for", "if-none-match"),
  fc.constantFrom(
    "wait=0",
    "wait=x",
    "0",
    "-1",
    "999999",
    "application/json",
    "text/html",
    "application/json; charset=utf-16",
    "*/*",
  ),
  { maxKeys: 2 },
);

describe("random requests", () => {
  let folder: string;
  let world: EngineWorld;
  let served: Served;
  let operations: readonly Operation[];
  let sessionId: string;
  let waiting: unknown;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "ergon-random-"));
    world = createEngineWorld({
      store: openSqliteStateStore({ path: join(folder, "state.db"), logger: silentLogger }),
    });
    served = await serve(world);
    const { paths } = (await served.ask("GET", "/openapi.json")).body as {
      paths: Record<string, Record<string, unknown>>;
    };
    operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
    );
    ({ sessionId } = await world.engine.createSession({ owner: "ann" }));
    await world.engine.executePlan({ owner: "ann", sessionId, plan: "ask-twice" });
    await world.engine.settled({ owner: "ann", sessionId });
    waiting = await world.engine.readSession({ owner: "ann", sessionId });
  });
  afterAll(async () => {
    await served.close();
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("never meet a 500 or a stack trace, and never touch what is another's", { timeout: 120_000 }, async () => {
    const one = fc.record({
      operation: fc.nat().map((n) => operations[n % operations.length]),
      segment,
      query,
      headers,
      body,
    });
    const statuses = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(one, async ({ operation, ...parts }) => {
        const { method = "GET", path = "/" } = operation ?? {};
        // Half of them name a session that is there, and not theirs.
        const name = parts.query.length % 2 === 0 ? parts.segment : sessionId;
        const answer = await send(
          method,
          path.replaceAll(/\{\w+\}/g, () => name) + parts.query,
          parts.body,
          parts.headers,
        );
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        expect(answer.status, `${method} ${path} ${answer.text}`).not.toBe(500);
        expect(answer.text).not.toMatch(/\n\s+at |node_modules|\.ts:\d/);
        if (answer.status >= 400) {
          expect(answer.type).toBe("application/problem+json");
          expect(JSON.parse(answer.text)).toMatchObject({ status: answer.status, code: expect.any(String) as unknown });
        }
      }),
      { numRuns: RUNS_PER_ROUTE * operations.length },
    );
    expect(await world.engine.readSession({ owner: "ann", sessionId })).toEqual(waiting);
    for (const status of [200, 400, 404, 415, 422]) expect(statuses.get(status) ?? 0).toBeGreaterThan(0);
  });

  it("that are refused change nothing", { timeout: 60_000 }, async () => {
    const own = { owner: "admin", sessionId: (await world.engine.createSession({ owner: "admin" })).sessionId };
    await world.engine.executePlan({ ...own, plan: "ask-twice" });
    await world.engine.settled(own);
    const writes = operations.filter(({ method, path }) => method !== "GET" && path.startsWith("/sessions/{id}/"));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...writes), body, async ({ method, path }, sent) => {
        const before = await snapshot(own);
        const answer = await send(method, path.replace("{id}", own.sessionId), sent, {});
        if (answer.status >= 400) expect(await snapshot(own)).toEqual(before);
        else Object.assign(own, await anotherOne());
      }),
      { numRuns: 150 },
    );
  });

  async function anotherOne(): Promise<{ sessionId: string }> {
    const core = await world.engine.createSession({ owner: "admin" });
    await world.engine.executePlan({ owner: "admin", sessionId: core.sessionId, plan: "ask-twice" });
    await world.engine.settled({ owner: "admin", sessionId: core.sessionId });
    return { sessionId: core.sessionId };
  }

  async function snapshot(ref: { readonly owner: string; readonly sessionId: string }): Promise<unknown> {
    return { ...(await world.engine.readSession(ref)), seq: await world.store.lastEventSeq() };
  }

  async function send(method: string, path: string, sent: string, extra: Readonly<Record<string, string>>) {
    const stop = new AbortController();
    const hasBody = method !== "GET" && sent !== "";
    const response = await fetch(new URL(path, served.url), {
      method,
      headers: {
        authorization: `Bearer ${FIRST_TOKEN}`,
        ...(hasBody ? { "content-type": "application/json" } : {}),
        ...extra,
      },
      ...(hasBody ? { body: sent } : {}),
      signal: stop.signal,
    });
    const type = response.headers.get("content-type");
    if (type?.startsWith("text/event-stream") === true) {
      stop.abort();
      return { status: response.status, type, text: "" };
    }
    return { status: response.status, type, text: await response.text() };
  }
});
