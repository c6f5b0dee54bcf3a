import { createEngineWorld, type EngineWorld } from "@ergon/core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HttpParts } from "./server/http-parts.ts";
import { FIRST_TOKEN, LOCAL_TOKEN, serve, type Served } from "./serve.fixture.ts";

/**
 * What each holder of a token gets for what Ann made: `own` is Ann herself. Routes that show only one's own, or what is
 * everybody's, answer all alike; what Ann made is in none of the others' answers.
 */
const SEARCH = { type: "search_servers", params: { query: "notes" } };
const matrix = [
  ["GET", "/healthz", { own: 200, agent: 200, person: 200, admin: 200, none: 200 }],
  ["GET", "/readyz", { own: 200, agent: 200, person: 200, admin: 200, none: 200 }],
  ["POST", "/sessions", { own: 201, agent: 201, person: 201, admin: 201 }],
  ["GET", "/sessions", { own: 200, agent: 200, person: 200, admin: 200 }],
  ["GET", "/sessions/:session", { own: 200, agent: 404, person: 404, admin: 404 }],
  ["GET", "/sessions/:session/trace", { own: 200, agent: 404, person: 404, admin: 404 }],
  ["GET", "/sessions/:session/events", { own: 200, agent: 404, person: 404, admin: 404 }],
  ["POST", "/runs", { own: 202, agent: 202, person: 202, admin: 202 }, { planId: "echo", input: { text: "x" } }],
  ["POST", "/sessions/:session/execute-plan", { own: 409, agent: 404, person: 404, admin: 404 }, { planId: "hold" }],
  ["POST", "/sessions/:session/dry-run", { own: 200, agent: 404, person: 404, admin: 404 }, { planId: "hold" }],
  ["POST", "/sessions/:session/resume", { own: 409, agent: 404, person: 404, admin: 404 }, { input: { n: 1 } }],
  ["POST", "/sessions/:fresh/cancel", { own: 202, agent: 404, person: 404, admin: 404 }],
  ["POST", "/sessions/:session/fork", { own: 202, agent: 404, person: 404, admin: 404 }, { fromStep: "both" }],
  ["GET", "/sessions/:session/diff?with=:session", { own: 200, agent: 404, person: 404, admin: 404 }],
  ["GET", "/events", { own: 200, agent: 200, person: 200, admin: 200 }],
  ["GET", "/plans", { own: 200, agent: 200, person: 200, admin: 200 }],
  ["GET", "/plans/echo", { own: 200, agent: 200, person: 200, admin: 200 }],
  ["POST", "/plans/validate", { own: 200, agent: 200, person: 200, admin: 200 }, { plan: {} }],
  ["GET", "/tools", { own: 200, agent: 200, person: 200, admin: 200 }],
  ["POST", "/tools/probe::echo/call", { own: 200, agent: 200, person: 200, admin: 200 }, { args: { value: 1 } }],
  ["GET", "/capabilities", { own: 200, agent: 200, person: 200, admin: 200 }],
  ["POST", "/capabilities/discover", { own: 200, agent: 200, person: 200, admin: 200 }, { query: "echo" }],
  ["GET", "/blobs/:blob", { own: 200, agent: 404, person: 404, admin: 404 }],
  ["GET", "/tokens", { own: 200, agent: 403, person: 200, admin: 200 }],
  ["POST", "/tokens", { own: 201, agent: 403, person: 201, admin: 201 }, { name: ":new" }],
  ["DELETE", "/tokens/:helper", { own: 200, agent: 403, person: 404, admin: 200 }],
  ["GET", "/stats", { own: 200, agent: 200, person: 200, admin: 200 }],
  ["GET", "/metrics", { own: 200, agent: 200, person: 200, admin: 200 }],
  ["GET", "/openapi.json", { own: 200, agent: 200, person: 200, admin: 200 }],
  ["GET", "/conversations", { own: 200, agent: 200, person: 200, admin: 200 }],
  ["GET", "/conversations/:talk", { own: 200, agent: 404, person: 404, admin: 404 }],
  ["GET", "/conversations/:talk/events", { own: 200, agent: 404, person: 404, admin: 404 }],
  ["POST", "/message", { own: 202, agent: 202, person: 202, admin: 202 }, { content: "Hello" }],
  ["POST", "/message", { own: 202, agent: 404, person: 404, admin: 404 }, { content: "x", conversationId: ":talk" }],
  ["POST", "/conversations/:talk/end", { own: 200, agent: 404, person: 404, admin: 404 }],
  ["GET", "/energy", { own: 200, agent: 200, person: 200, admin: 200 }],
  [
    "POST",
    "/loop",
    { own: 200, agent: 200, person: 200, admin: 200 },
    { mode: "general", sessionId: "turn", messages: [{ role: "user", content: "echo it" }] },
  ],
  ["GET", "/approvals", { own: 200, agent: 200, person: 200, admin: 200 }],
  ["GET", "/approvals/:approval", { own: 200, agent: 404, person: 404, admin: 200 }],
  ["POST", "/approvals/:approval", { own: 200, agent: 403, person: 404, admin: 200 }, { decision: "approve" }],
  ["GET", "/grants", { own: 200, agent: 403, person: 200, admin: 200 }],
  ["DELETE", "/grants/nothing", { own: 404, agent: 403, person: 404, admin: 404 }],
  ["GET", "/servers", { own: 403, agent: 403, person: 403, admin: 200 }],
  ["POST", "/servers", { own: 403, agent: 403, person: 403, admin: 422 }],
  ["PATCH", "/servers/x", { own: 403, agent: 403, person: 403, admin: 404 }],
  ["DELETE", "/servers/x", { own: 403, agent: 403, person: 403, admin: 404 }],
  ["POST", "/servers/x/test", { own: 403, agent: 403, person: 403, admin: 404 }],
  ["POST", "/servers/x/ask", { own: 403, agent: 403, person: 403, admin: 404 }, { kind: "prompts" }],
  ["POST", "/servers/x/approve", { own: 403, agent: 403, person: 403, admin: 404 }],
  ["POST", "/subagent/requests", { own: 202, agent: 202, person: 202, admin: 202 }, SEARCH],
  ["GET", "/subagent/requests", { own: 200, agent: 200, person: 200, admin: 200 }],
  ["GET", "/subagent/requests/:request", { own: 200, agent: 404, person: 404, admin: 404 }],
  ["DELETE", "/subagent/requests/:request", { own: 200, agent: 404, person: 404, admin: 404 }],
  ["GET", "/loops", { own: 200, agent: 200, person: 200, admin: 200 }],
  ["POST", "/loops", { own: 201, agent: 201, person: 201, admin: 201 }, { loop_type: "plan" }],
  ["GET", "/loops/:loop", { own: 200, agent: 404, person: 404, admin: 404 }],
  ["POST", "/loops/:loop/decide", { own: 200, agent: 404, person: 404, admin: 404 }, { current_score: 50 }],
] as const satisfies readonly (readonly [string, string, Expected, unknown?])[];

type Expected = {
  readonly own: number;
  readonly agent: number;
  readonly person: number;
  readonly admin: number;
  readonly none?: number;
};
type Holder = "own" | "agent" | "person" | "admin";

describe("who may do what", () => {
  let world: EngineWorld;
  let served: Served;
  let holders: Record<Holder, string>;
  let session: string;
  let blob: string;
  let loop: string;
  let approval: string;
  let request: string;
  let talk: string;
  let made = 0;

  beforeAll(async () => {
    world = createEngineWorld();
    served = await serve(world);
    holders = {
      own: await served.tokenFor("ann", "person"),
      agent: await served.tokenFor("bot", "agent"),
      person: await served.tokenFor("bob", "person"),
      admin: FIRST_TOKEN,
    };
    const large = await newSession("large");
    const context = (await served.ask("GET", `/sessions/${large}`, { token: holders.own })).body["context"];
    blob = (context as Record<string, { $blob: string }>)["probe::large_result"]?.$blob ?? "";
    session = await newSession("ask-twice");
    const made = await served.ask("POST", "/loops", { token: holders.own, body: { loop_type: "plan" } });
    loop = String(made.body["id"]);
    world.registry.register({
      definition: { id: "probe::erase", description: "d", parameters: { type: "object" }, destructiveHint: true },
      implementation: () => Promise.resolve("erased"),
    });
    const asked = await served.ask("POST", "/tools/probe::erase/call", { token: holders.own, body: { args: {} } });
    approval = String(asked.body["approvalId"]);
    const search = await served.ask("POST", "/subagent/requests", { token: holders.own, body: SEARCH });
    request = String(search.body["requestId"]);
    const said = { token: holders.own, body: { content: "Hello" }, headers: { prefer: "wait=30" } };
    talk = String((await served.ask("POST", "/message", said)).body["conversationId"]);
  });
  afterAll(async () => {
    await served.close();
    await world.close();
  });

  it.each(matrix)("%s %s answers %o", async (method, path, expected, body?: unknown) => {
    const before = await state();
    for (const token of [null, "wrong", holders.own.slice(0, -1), `${holders.own}x`]) {
      const answer = await ask(method, path, body, token);
      expect(answer.status).toBe(("none" in expected ? expected.none : undefined) ?? 401);
    }
    expect(await state()).toEqual(before);
    for (const holder of ["agent", "person", "admin"] as const) {
      const { status, text } = await ask(method, path, body, holders[holder]);
      expect([holder, status]).toEqual([holder, expected[holder]]);
      if (!path.includes(":session")) expect(text).not.toContain(session);
    }
    expect(await state()).toEqual(before);
    expect((await ask(method, path, body, holders.own)).status).toBe(expected.own);
  });

  it("figures about servers and the model's failures are for the first token", async () => {
    const totals = { addedAt: "", lastUsed: null, totalInvocations: 7, totalFailures: 0 };
    const hub = { servers: [{ id: "payroll", name: "payroll", enabled: true, ...totals }], tools: [] };
    const degraded = ["The model said: payroll of ann is due."];
    const calm = { running: true, waiting: 0, working: 0, snoozed: 0, planner: "", wakeMs: { p50: 0, p99: 0, max: 0 } };
    const conversations = { status: async () => ({ ...calm, degraded }) } as unknown as HttpParts["conversations"];
    const other = await serve(world, { hubStats: async () => hub, conversations });
    try {
      expect((await other.ask("GET", "/stats")).body).toMatchObject({ hub, conversations: { degraded } });
      for (const scope of ["agent", "person"] as const) {
        const token = await other.tokenFor(`stats-${scope}`, scope);
        const { body, text } = await other.ask("GET", "/stats", { token });
        expect(body).toMatchObject({
          hub: { servers: [], tools: [] },
          conversations: { degraded: [expect.anything()] },
        });
        expect(text).not.toContain("payroll");
      }
    } finally {
      await other.close();
    }
  });

  it("covers every route that there is", async () => {
    const { paths } = (await served.ask("GET", "/openapi.json")).body as {
      paths: Record<string, Record<string, unknown>>;
    };
    const there = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    const pattern = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
    const uncovered = there.filter((entry) => {
      const [method = "", path = ""] = entry.split(" ");
      return !matrix.some(([m, p]) => m.toLowerCase() === method && pattern(path).test(p.replace(/\?.*/, "")));
    });
    expect(uncovered).toEqual([]);
  });

  it("a process on the folder acts for whom it names; nobody else does", async () => {
    const asAnn = { "ergon-owner": "ann" };
    expect((await served.ask("GET", `/sessions/${session}`, { token: LOCAL_TOKEN, headers: asAnn })).status).toBe(200);
    expect((await served.ask("GET", `/sessions/${session}`, { token: LOCAL_TOKEN })).status).toBe(404);
    for (const token of Object.values(holders)) {
      expect((await served.ask("GET", `/sessions/${session}`, { token, headers: asAnn })).status).toBe(403);
    }
    for (const name of ["", "%", "%E0%A4%A"]) {
      const answer = await served.ask("GET", "/sessions", { token: LOCAL_TOKEN, headers: { "ergon-owner": name } });
      expect(answer.status).toBe(403);
    }
  });

  it("a revoked token opens nothing, and its streams end", async () => {
    const token = await served.tokenFor("gone", "agent");
    const stream = await fetch(new URL("/events", served.url), { headers: { authorization: `Bearer ${token}` } });
    expect(stream.status).toBe(200);
    expect((await served.ask("DELETE", "/tokens/gone")).status).toBe(200);
    expect(await stream.text()).toContain("retry:");
    expect((await served.ask("GET", "/sessions", { token })).status).toBe(401);
  });

  async function newSession(planId?: string): Promise<string> {
    const token = holders.own;
    const id = String((await served.ask("POST", "/sessions", { token })).body["sessionId"]);
    const path = `/sessions/${id}/execute-plan`;
    if (planId !== undefined)
      await served.ask("POST", path, { token, body: { planId }, headers: { prefer: "wait=10" } });
    return id;
  }

  async function ask(method: string, path: string, body: unknown, token: string | null) {
    made += 1;
    const helper = path.includes(":helper") ? await tokenOfAnn(`h${made}`) : "";
    const fresh = path.includes(":fresh") ? await newSession() : "";
    const concrete = path
      .replaceAll(":session", session)
      .replace(":fresh", fresh)
      .replace(":blob", blob)
      .replace(":loop", loop)
      .replace(":approval", approval)
      .replace(":request", request)
      .replace(":talk", talk)
      .replace(":helper", helper);
    const sent =
      body === undefined
        ? undefined
        : JSON.parse(JSON.stringify(body).replace(":new", `n${made}`).replace(":talk", talk));
    if (!concrete.endsWith("/events")) return await served.ask(method, concrete, { token, body: sent });
    const stop = new AbortController();
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    const { status } = await fetch(new URL(concrete, served.url), { headers, signal: stop.signal });
    stop.abort();
    return { status, text: "" };
  }

  async function tokenOfAnn(name: string): Promise<string> {
    expect((await served.ask("POST", "/tokens", { token: holders.own, body: { name } })).status).toBe(201);
    return name;
  }

  /** What must be as it was after others tried. */
  async function state(): Promise<unknown> {
    const { core, context, history } = await world.engine.readSession({ owner: "ann", sessionId: session });
    return { core, context, history };
  }
});
