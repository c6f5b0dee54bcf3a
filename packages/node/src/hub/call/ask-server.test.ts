import { join } from "node:path";
import { silentLogger } from "@ergon/core";
import type { McpConnection, ServerOffer } from "@ergon/core/hub";
import { afterEach, describe, expect, it, vi } from "vitest";
import { MAX_ANSWER_CHARS, MAX_LISTED } from "./ask-server.ts";
import { createMcpConnector } from "../connection/connector.ts";

vi.setConfig({ testTimeout: 60_000 });
const PATIENCE = { timeout: 30_000, interval: 20 };
const open: McpConnection[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((connection) => connection.stop()));
});

describe("what a server has beside its tools", () => {
  it.each([MAX_LISTED, MAX_LISTED + 1])("is listed up to the bound: it has %i of each", async (count) => {
    const { connection } = await offering(count);
    expect(connection.report().offers).toEqual(["resources", "prompts"]);
    const { resources, resourceTemplates } = (await connection.ask({ kind: "resources" })) as Record<string, unknown[]>;
    const { prompts } = (await connection.ask({ kind: "prompts" })) as Record<string, unknown[]>;
    expect([resources, resourceTemplates, prompts].map((list) => list?.length)).toEqual(Array(3).fill(MAX_LISTED));
  });

  it("is read up to a bound, and its keys are hidden", async () => {
    const { connection } = await offering(1);
    const read = (uri: string) => connection.ask({ kind: "resource", uri });
    const around = JSON.stringify({ contents: [{ uri: "long://0/10000000", text: "" }] }).length;
    const longest = MAX_ANSWER_CHARS - around;
    expect(JSON.stringify(await read(`long://0/${String(longest)}`))).toHaveLength(MAX_ANSWER_CHARS);
    await expect(read(`long://0/${String(longest + 1)}`)).rejects.toMatchObject({
      code: "server_refused",
      message: expect.stringContaining(String(MAX_ANSWER_CHARS)),
    });
    expect(await read("count://0")).toEqual({ contents: [{ uri: "count://0", text: "[hidden]" }] });
  });

  it("has arguments that nothing is known of, where it completes none", async () => {
    const { connection } = await offering(1);
    const argument = { name: "chars", value: "1" };
    for (const of of [{ template: "long://0/{chars}" }, { prompt: "0" }])
      expect(await connection.ask({ kind: "completion", of, argument, given: {} })).toEqual({ values: [] });
  });

  it("is told of when it changes", async () => {
    const { connection, changed } = await offering(1);
    await connection.call({ name: "add", args: {} });
    await vi.waitFor(() => expect(new Set(changed)).toEqual(new Set(["resources", "prompts"])), PATIENCE);
    expect(await connection.ask({ kind: "prompts" })).toEqual({ prompts: [{ name: "0" }, { name: "1" }] });
  });
});

async function offering(count: number): Promise<{ connection: McpConnection; changed: ServerOffer[] }> {
  const changed: ServerOffer[] = [];
  const key = "sk-canary-0123456789";
  const connection = createMcpConnector({ logger: silentLogger }).open({
    config: {
      id: "offers",
      name: "offers",
      enabled: true,
      command: process.execPath,
      args: [join(import.meta.dirname, "../offering-server.fixture.ts"), String(count)],
      env: { API_KEY: key },
    },
    secrets: [key],
    credentials: [key],
    onChange: () => undefined,
    onOffersChanged: (offer) => changed.push(offer),
  });
  open.push(connection);
  connection.start();
  await connection.settled();
  return { connection, changed };
}
