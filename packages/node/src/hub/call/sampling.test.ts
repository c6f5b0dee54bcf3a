import { createRequire } from "node:module";
import { type ChatModel, createSystemClock, silentLogger } from "@ergon/core";
import type { McpConnection } from "@ergon/core/hub";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createAiModel } from "../../models/ai-model.ts";
import { type ScriptedServer, startScriptedServer } from "../../models/scripted-server.fixture.ts";
import { createMcpConnector } from "../connection/connector.ts";
import { createSampling, MAX_SAMPLE_CHARS, MAX_SAMPLE_TOKENS, MAX_SAMPLES_PER_CALL } from "./sampling.ts";

vi.setConfig({ testTimeout: 60_000 });
const require = createRequire(import.meta.url);
const everything = require.resolve("@modelcontextprotocol/server-everything/dist/index.js");
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const tool = "trigger-sampling-request";

describe("the model, lent to a published server", () => {
  it("answers one that is trusted, within a call, and sees no key", async () => {
    const { model, service } = await scripted("Oslo.");
    const connection = await opened({ trusted: true, model });
    const { content } = await connection.call({
      name: tool,
      args: { prompt: "Capital? hunter2-hunter2", maxTokens: 9 },
    });
    expect(content[0]?.text).toContain("Oslo.");
    const [asked] = service.requests;
    expect(asked?.body.messages).toEqual([
      { role: "system", content: "You are a helpful test server." },
      { role: "user", content: `Resource ${tool} context: Capital? [hidden]` },
    ]);
    expect(asked?.body).toMatchObject({ max_tokens: 9 });
    expect(connection.report().log.join("\n")).toMatch(/It was lent .*tokens in, .* out\./);
  });

  it("is kept to so many tokens, whatever the server asks for", async () => {
    const { model, service } = await scripted("Oslo.");
    const connection = await opened({ trusted: true, model });
    await connection.call({ name: tool, args: { prompt: "p", maxTokens: MAX_SAMPLE_TOKENS + 1 } });
    expect(service.requests[0]?.body).toMatchObject({ max_tokens: MAX_SAMPLE_TOKENS });
  });

  it.each([
    ["is not trusted", false, true],
    ["has no model to be lent", true, false],
  ])("is not offered to one that %s", async (_, trusted, hasModel) => {
    const { model, service } = await scripted("Oslo.");
    const connection = await opened({ trusted, ...(hasModel ? { model } : {}) });
    expect(connection.report().tools.map(({ name }) => name)).not.toContain(tool);
    expect(service.asked()).toBe(0);
  });
});

describe("lending", () => {
  const request = (text: string) => ({
    messages: [{ role: "user" as const, content: { type: "text" as const, text } }],
    maxTokens: 5,
  });
  const { signal } = new AbortController();
  const lending = async () => {
    const { model } = await scripted(...Array<string>(MAX_SAMPLES_PER_CALL + 1).fill("fine"));
    return createSampling({ serverId: "s", model, redact: (text) => text, note: () => undefined });
  };
  const done = { content: [], isError: false };

  it("is for a call under way, and so many times for one", async () => {
    const { during, sample } = await lending();
    await expect(sample(request("now"), signal)).rejects.toThrow("it was not called");
    await during(async () => {
      for (let n = 0; n < MAX_SAMPLES_PER_CALL; n += 1) expect(await sample(request("n"), signal)).toBeDefined();
      await expect(sample(request("again"), signal)).rejects.toThrow(`lent ${String(MAX_SAMPLES_PER_CALL)} times`);
      return done;
    });
  });

  it("is taken back when the call ends first", async () => {
    const asked: AbortSignal[] = [];
    const model: ChatModel = {
      id: "slow",
      generate: ({ signal: given }) => {
        if (given !== undefined) asked.push(given);
        return new Promise((_, reject) => given?.addEventListener("abort", () => reject(new Error("taken back"))));
      },
    };
    const { during, sample } = createSampling({ serverId: "s", model, redact: (text) => text, note: () => undefined });
    const samples: Promise<unknown>[] = [];
    await during(async () => {
      samples.push(sample(request("go on"), signal).catch((error: unknown) => error));
      return done;
    });
    expect(await Promise.all(samples)).toMatchObject([{ message: "taken back" }]);
    expect(asked.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it("is for texts up to a bound, and for nothing else", async () => {
    const { during, sample } = await lending();
    await during(async () => {
      expect(await sample(request("x".repeat(MAX_SAMPLE_CHARS)), signal)).toMatchObject({ role: "assistant" });
      await expect(sample(request("x".repeat(MAX_SAMPLE_CHARS + 1)), signal)).rejects.toThrow("characters");
      const picture = { type: "image" as const, data: "", mimeType: "image/png" };
      const odd = { messages: [{ role: "user" as const, content: picture }], maxTokens: 5 };
      await expect(sample(odd, signal)).rejects.toThrow('"image"');
      return done;
    });
  });
});

async function scripted(...replies: readonly string[]): Promise<{ model: ChatModel; service: ScriptedServer }> {
  const service = await startScriptedServer(replies);
  closing.push(service.close);
  const speaks = { id: "local/tiny", provider: "local", model: "tiny", speaks: "openai-compatible" } as const;
  return { service, model: createAiModel({ service: { ...speaks, url: service.url }, clock: createSystemClock() }) };
}

async function opened({ trusted, model }: { trusted: boolean; model?: ChatModel }): Promise<McpConnection> {
  const connector = createMcpConnector({ logger: silentLogger, ...(model === undefined ? {} : { model }) });
  const key = "hunter2-hunter2";
  const connection = connector.open({
    config: { id: "s", name: "s", enabled: true, trusted, command: process.execPath, args: [everything, "stdio"] },
    secrets: [key],
    credentials: [key],
    onChange: () => undefined,
  });
  closing.push(connection.stop);
  connection.start();
  await connection.settled();
  return connection;
}
