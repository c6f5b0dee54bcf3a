import { McpLoopRunner, type LoopRequest, ToolRegistry } from "@ergon/core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Ask, createHandler, MAX_RUNS_AT_ONCE } from "./handler.ts";
import { MAX_BODY_BYTES, MAX_BODY_DEPTH } from "./limits.ts";

const registry = new ToolRegistry();
registry.register({
  name: "greet",
  description: "Greets somebody by name.",
  argsSchema: z.object({ who: z.string() }),
  run: ({ args }) => Promise.resolve({ greeting: `Hello, ${String(args["who"])}!` }),
});
const planner = () => [
  { tool: "greet", args: { who: "Ada" } },
  { tool: "finalize_summary", args: {} },
];
const runner = new McpLoopRunner({ registry, planner });
const ask: Ask = (request, signal) => runner.attempt(request as LoopRequest, { owner: "ada", signal });
const handler = createHandler({
  admit: async (token) => (token === "good" ? ask : undefined),
  allowedOrigins: ["https://app.example"],
});

type Parts = { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string };
const requestOf = ({ method = "POST", headers = {}, body = turn("greet Ada") }: Parts): Request =>
  new Request("http://localhost/mcp-loop", {
    method,
    headers: { authorization: "Bearer good", ...headers },
    ...(method === "POST" ? { body } : {}),
  });
const turn = (content: string) =>
  JSON.stringify({ mode: "general", sessionId: "s1", messages: [{ role: "user", content }] });
const asked = async (parts: Parts = {}) => {
  const response = await handler(requestOf(parts));
  const body = (await response.json()) as Record<string, unknown>;
  return { response, status: response.status, code: body["code"], body };
};

describe("the edge function's door", () => {
  it("answers a turn of the loop", async () => {
    const { status, body } = await asked();
    expect(status).toBe(200);
    expect(body).toMatchObject({
      success: true,
      data: { context: { greet: { greeting: "Hello, Ada!" } }, summaryMessage: "greeting: Hello, Ada!" },
    });
  });

  it.each([
    ["no token", { authorization: "" }],
    ["another kind of authorization", { authorization: "Basic Z29vZA==" }],
    ["a token that nobody has", { authorization: "Bearer bad" }],
  ])("refuses %s", async (_, headers) => {
    const { status, code, response } = await asked({ headers });
    expect({ status, code }).toEqual({ status: 401, code: "unauthorized" });
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(response.headers.get("content-type")).toBe("application/problem+json");
  });

  it("takes POST alone", async () => {
    const { status, code, response } = await asked({ method: "GET" });
    expect({ status, code }).toEqual({ status: 405, code: "method_not_allowed" });
    expect(response.headers.get("allow")).toBe("POST, OPTIONS");
  });

  it("refuses what is no JSON, too large or too deep, and takes what is just within", async () => {
    expect(await asked({ body: "{" })).toMatchObject({ status: 400, code: "bad_json" });
    expect(await asked({ body: " ".repeat(MAX_BODY_BYTES + 1) })).toMatchObject({
      status: 413,
      code: "body_too_large",
    });
    const atLimit = turn("greet Ada");
    expect(await asked({ body: atLimit + " ".repeat(MAX_BODY_BYTES - atLimit.length) })).toMatchObject({ status: 200 });
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    expect(await asked({ body: nested(MAX_BODY_DEPTH + 1) })).toMatchObject({ status: 400, code: "body_too_deep" });
    expect(await asked({ body: nested(MAX_BODY_DEPTH) })).toMatchObject({ status: 422, code: "request_invalid" });
    expect(await asked({ body: JSON.stringify({ text: `\\"${"[".repeat(100)}` }) })).toMatchObject({ status: 422 });
  });

  it("names everything that is wrong with a request", async () => {
    const { status, body } = await asked({ body: JSON.stringify({ mode: "boss", messages: 5 }) });
    expect(status).toBe(422);
    const paths = (body["issues"] as { path: string }[]).map(({ path }) => path);
    expect(paths.sort()).toEqual(["/messages", "/mode", "/sessionId"]);
  });

  it("lets pages of named origins in, and no others", async () => {
    const preflight = (origin: string) => handler(requestOf({ method: "OPTIONS", headers: { origin } }));
    const own = await preflight("https://app.example");
    expect(own.status).toBe(204);
    expect(own.headers.get("access-control-allow-origin")).toBe("https://app.example");
    // What supabase-js sends with invoke(name, { region }).
    expect(own.headers.get("access-control-allow-headers")).toContain("x-region");
    expect((await preflight("https://evil.example")).headers.get("access-control-allow-origin")).toBeNull();
    const { response } = await asked({ headers: { origin: "https://app.example" } });
    expect(response.headers.get("access-control-allow-origin")).toBe("https://app.example");
  });

  it("runs a bounded number of turns at once, and takes the next when one has ended", async () => {
    const held = Promise.withResolvers<undefined>();
    const slow = createHandler({
      admit: async () => async (request, signal) => {
        await held.promise;
        return ask(request, signal);
      },
      allowedOrigins: [],
    });
    const running = Array.from({ length: MAX_RUNS_AT_ONCE }, () => slow(requestOf({})));
    const refused = await slow(requestOf({}));
    expect({ status: refused.status, after: refused.headers.get("retry-after") }).toEqual({ status: 503, after: "2" });
    held.resolve(undefined);
    expect(new Set((await Promise.all(running)).map(({ status }) => status))).toEqual(new Set([200]));
    expect((await slow(requestOf({}))).status).toBe(200);
  });

  it("ends a turn that takes too long, and says so", async () => {
    const endless = new ToolRegistry();
    endless.register({
      name: "greet",
      description: "Greets somebody by name.",
      argsSchema: z.object({ who: z.string() }),
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
        }),
    });
    const stuck = new McpLoopRunner({ registry: endless, planner });
    const impatient = createHandler({
      admit: async () => (request, signal) => stuck.attempt(request as LoopRequest, { owner: "ada", signal }),
      allowedOrigins: [],
      maxRunMs: 50,
    });
    const response = await impatient(requestOf({}));
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      success: false,
      error: expect.stringContaining("cancelled") as string,
    });
  });
});
