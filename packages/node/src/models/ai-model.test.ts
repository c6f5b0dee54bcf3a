import { createSystemClock } from "@ergon/core";
import { type ScriptedReply } from "@ergon/core/testing";
import { chatModelContract } from "@ergon/core/testing/contracts";
import { afterEach, describe, expect, it } from "vitest";
import { createAiModel, MAX_ATTEMPTS, MAX_PAUSE_MS } from "./ai-model.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import type { ModelService } from "./choose-model.ts";
import { type ScriptedServer, startScriptedServer } from "./scripted-server.fixture.ts";

const clock = createSystemClock();
const messages = [
  { role: "system" as const, content: "Be brief." },
  { role: "user" as const, content: "Well?" },
];

function serviceAt(url: string, more: Partial<ModelService> = {}): ModelService {
  return { id: "local/tiny", provider: "local", model: "tiny", speaks: "openai-compatible", url, ...more };
}

chatModelContract("the AI SDK over HTTP", async (replies) => {
  const server = await startScriptedServer(replies);
  const model = createAiModel({ service: serviceAt(server.url), clock, firstPauseMs: 1 });
  return { model, asked: server.asked, close: server.close };
});

const servers: ScriptedServer[] = [];
afterEach(async () => {
  for (const { close } of servers.splice(0)) await close();
});

async function setUp(...replies: readonly (ScriptedReply | string)[]) {
  const server = await startScriptedServer(replies);
  servers.push(server);
  return { server, model: createAiModel({ service: serviceAt(server.url, { key: "k-1" }), clock, firstPauseMs: 1 }) };
}

describe("a model over the AI SDK", () => {
  it("asks as the service wants to be asked: key, model, messages, schema", async () => {
    const { server, model } = await setUp('{"n":1}');
    const schema = { type: "object", properties: { n: { type: "number" } } };
    expect(await model.generate({ messages, schema, temperature: 0.3 })).toMatchObject({
      text: '{"n":1}',
      model: "tiny",
      usage: { inputTokens: 11, outputTokens: 7 },
      truncated: false,
    });
    expect(server.requests[0]).toMatchObject({
      path: "/v1/chat/completions",
      authorization: "Bearer k-1",
      body: {
        model: "tiny",
        temperature: 0.3,
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "Well?" },
        ],
        response_format: { type: "json_schema", json_schema: { strict: false } },
      },
    });
  });

  it("asks without the schema when the service does not take one", async () => {
    const { server, model } = await setUp({ kind: "status", status: 400 }, "[]");
    expect((await model.generate({ messages, schema: { type: "object" } })).text).toBe("[]");
    expect(server.requests.map(({ body }) => body.response_format?.type)).toEqual(["json_schema", undefined]);
  });

  it.each([500, 503, 429])("tries again after %i, a bounded number of times", async (status) => {
    const recovering = await setUp({ kind: "status", status }, { kind: "status", status }, "at last");
    expect((await recovering.model.generate({ messages })).text).toBe("at last");
    const down = await setUp({ kind: "status", status });
    await expect(down.model.generate({ messages })).rejects.toMatchObject({ retryable: true, details: { status } });
    expect(down.server.asked()).toBe(MAX_ATTEMPTS);
  });

  it("waits as long as the service asks for, and not longer than makes sense", async () => {
    const patient = await setUp({ kind: "status", status: 429, retryAfterSeconds: 1 }, "now");
    expect((await patient.model.generate({ messages })).text).toBe("now");
    const [first, second] = patient.server.requests;
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(950);

    const late = await setUp({ kind: "status", status: 429, retryAfterSeconds: 5 });
    await expect(late.model.generate({ messages, timeoutMs: 2_000 })).rejects.toMatchObject({
      code: "model_rate_limited",
    });
    const tooLong = await setUp({ kind: "status", status: 429, retryAfterSeconds: MAX_PAUSE_MS / 1_000 + 1 });
    await expect(tooLong.model.generate({ messages })).rejects.toMatchObject({
      code: "model_rate_limited",
      details: { retryAfterMs: MAX_PAUSE_MS + 1_000 },
    });
    expect(late.server.asked() + tooLong.server.asked()).toBe(2);
  });

  it("does not try again what will not pass", async () => {
    const { server, model } = await setUp({ kind: "status", status: 401 });
    await expect(model.generate({ messages })).rejects.toMatchObject({
      code: "model_refused",
      message: expect.stringContaining("Check the key") as string,
    });
    expect(server.asked()).toBe(1);
  });

  it("says so when nobody listens there", async () => {
    const server = await startScriptedServer(["x"]);
    await server.close();
    const model = createAiModel({ service: serviceAt(server.url), clock, firstPauseMs: 1 });
    await expect(model.generate({ messages })).rejects.toMatchObject({ code: "model_unavailable", retryable: true });
  });

  it("cuts off an answer at its bound", async () => {
    const body = (bytes: number) => () => Promise.resolve(new Response("x".repeat(bytes)));
    expect(await (await boundedFetch(body(100), 100)("http://x")).text()).toHaveLength(100);
    const over = await boundedFetch(body(101), 100)("http://x");
    await expect(over.text()).rejects.toMatchObject({ code: "model_answer_invalid" });
  });

  it.each([
    ["openai", "https://api.openai.com/v1/"],
    ["anthropic", "https://api.anthropic.com/v1/"],
    ["google", "https://generativelanguage.googleapis.com/"],
  ] as const)("speaks to %s at its own address, with the key", async (speaks, address) => {
    const seen: { url: string; headers: string }[] = [];
    const fetch: typeof globalThis.fetch = (input, init) => {
      const url = input instanceof Request ? input.url : String(input);
      seen.push({ url, headers: JSON.stringify([...new Headers(init?.headers)]) });
      return Promise.resolve(Response.json({ error: { message: "no such key" } }, { status: 401 }));
    };
    const service: ModelService = { id: `${speaks}/m`, provider: speaks, model: "m", speaks, key: "secret-key" };
    const model = createAiModel({ service, clock, fetch });
    await expect(model.generate({ messages, schema: { type: "object", properties: {} } })).rejects.toMatchObject({
      code: "model_refused",
    });
    expect(seen[0]?.url).toContain(address);
    expect(seen[0]?.headers).toContain("secret-key");
  });
});
