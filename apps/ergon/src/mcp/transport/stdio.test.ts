import { once } from "node:events";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { silentLogger } from "@ergon/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { answer } from "../drive/answers.ts";
import { createMcpChanges } from "../host/changes.ts";
import { createMcpHost } from "../host/mcp-host.ts";
import { serveMcpOnStdio } from "./stdio.ts";

type Answer = { readonly result?: Record<string, unknown>; readonly error?: { readonly code: number } };

const called: unknown[] = [];
const host = createMcpHost({
  name: "test",
  version: "1.0.0",
  surfaces: [
    {
      tools: () => [
        {
          definition: { name: "keep", inputSchema: { type: "object" } },
          call: (args) => {
            called.push(args);
            return Promise.resolve(answer({ kept: true }));
          },
        },
      ],
    },
  ],
  changes: createMcpChanges(),
  logger: silentLogger,
  debug: false,
});

let ask: (message: string) => Promise<Answer>;
let close: () => Promise<void>;

beforeEach(async () => {
  called.length = 0;
  const [input, output] = [new PassThrough(), new PassThrough()];
  const lines = createInterface({ input: output });
  const served = serveMcpOnStdio(host, {
    owner: "me",
    mayApprove: false,
    streams: { input, output },
    signal: new AbortController().signal,
  });
  ask = async (message) => {
    input.write(`{"jsonrpc":"2.0","id":1,${message}}\n`);
    const [line] = (await once(lines, "line")) as [string];
    return JSON.parse(line) as Answer;
  };
  close = async () => {
    input.end();
    await served;
  };
  const clientInfo = { name: "test", version: "1" };
  const params = JSON.stringify({ protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  await ask(`"method":"initialize","params":${params}`);
});
afterEach(() => close());

describe("a call of a tool over pipes", () => {
  it("reaches it with its arguments", async () => {
    const { result } = await ask('"method":"tools/call","params":{"name":"keep","arguments":{"a":[1]}}');
    expect(result).toMatchObject({ structuredContent: { kept: true } });
    expect(called).toEqual([{ a: [1] }]);
  });

  it.each([
    ["no parameters", ""],
    ["no name", ',"params":{}'],
    ["a name that is no text", ',"params":{"name":7}'],
    ["arguments that are a text", ',"params":{"name":"keep","arguments":"a"}'],
    ["arguments that are a list", ',"params":{"name":"keep","arguments":[1]}'],
    ["no arguments but null", ',"params":{"name":"keep","arguments":null}'],
    ["an argument that nobody can have", ',"params":{"name":"keep","arguments":{"__proto__":{"a":1}}}'],
  ])("that has %s is refused, and reaches nobody", async (_, params) => {
    expect(await ask(`"method":"tools/call"${params}`)).toMatchObject({ error: { code: -32_602 } });
    expect(called).toEqual([]);
  });
});
