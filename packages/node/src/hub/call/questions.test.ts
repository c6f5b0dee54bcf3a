import { once } from "node:events";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { silentLogger } from "@ergon/core";
import { MAX_QUESTIONS, type GivenAnswer, type Question } from "@ergon/core/schema";
import type { McpConnection } from "@ergon/core/hub";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from "@modelcontextprotocol/server";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { createMcpConnector, type ConnectorDeps } from "../connection/connector.ts";

vi.setConfig({ testTimeout: 60_000 });
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const nameForm = {
  message: "What is your name?",
  requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
};

describe.each([
  ["the older protocol, over pipes", olderServer],
  ["the newer protocol, over HTTP", newerServer],
])("what a server asks during a call, by %s", (_, open) => {
  it("ends the call with the question, and the next call has the answer", async () => {
    const connection = await open();
    const question = await questionOf(ask(connection, []));
    expect(question).toMatchObject({
      message: "What is your name?",
      inputSchema: { properties: { name: { type: "string" } } },
    });
    const result = await ask(connection, [{ key: question.key, input: { name: "Ada" } }]);
    expect(result).toContain("Ada");
  });

  it("is the same question at each call", async () => {
    const connection = await open();
    expect(await questionOf(ask(connection, []))).toEqual(await questionOf(ask(connection, [])));
  });

  it("is declined when the person does not want to say", async () => {
    const connection = await open();
    const { key } = await questionOf(ask(connection, []));
    expect(await ask(connection, [{ key, input: null }])).toContain("decline");
  });

  it("is declined where nobody can be asked (E2)", async () => {
    expect(await ask(await open(), undefined)).toContain("decline");
  });

  it("is put to somebody who is there", async () => {
    const connection = await open({ elicit: () => Promise.resolve({ action: "accept", content: { name: "Grace" } }) });
    expect(await ask(connection, undefined)).toContain("Grace");
  });

  it("is declined after so many questions of one call", async () => {
    const connection = await open();
    const others = Array.from({ length: MAX_QUESTIONS }, (_, at) => ({ key: `other-${String(at)}`, input: true }));
    await questionOf(ask(connection, others.slice(1)));
    expect(await ask(connection, others)).toContain("decline");
  });
});

describe("what a server asks", () => {
  it.each([
    ["a password", { message: "Log in", requestedSchema: form({ password: { type: "string" } }) }],
    ["a key by its title", { message: "Key", requestedSchema: form({ k: { type: "string", title: "API key" } }) }],
    ["a file to be opened", { mode: "url", message: "Go", url: "file:///etc/passwd", elicitationId: "1" }],
    ["a command to be run", { mode: "url", message: "Go", url: "https://x.example/$(id)\n--flag", elicitationId: "1" }],
    ["a plain address", { mode: "url", message: "Go", url: "http://x.example/", elicitationId: "1" }],
    [
      "a form without end",
      { message: "Much", requestedSchema: form({ a: { type: "string", title: "x".repeat(9_000) } }) },
    ],
  ])("is declined when it is %s, and the server's log says so (E3)", async (kind, params) => {
    const connection = await olderServer();
    const asking = connection.call({ name: "ask", args: params, answers: [] });
    if (kind === "a command to be run") {
      // As an address it is harmless text, and is shown as such.
      expect((await questionOf(asking)).url).not.toMatch(/[\n ]/);
      return;
    }
    expect(JSON.stringify(await asking)).toContain("decline");
    expect(connection.report().log.join()).toMatch(/that was declined/);
  });

  it("is said to be declined in the call's result and in its progress (E5)", async () => {
    const told: (string | undefined)[] = [];
    const connection = await olderServer();
    const args = { message: "Log in", requestedSchema: form({ password: { type: "string" } }) };
    const onProgress = ({ message }: { readonly message?: string }) => void told.push(message);
    const { content } = await connection.call({ name: "ask", args, answers: [], onProgress });
    const said = 'The server "asks" asked for a secret ("password") in a form; Ergon declined that.';
    expect(content).toMatchObject([{ type: "text", text: expect.stringContaining(`"decline"`) as string }]);
    expect(content[0]?.text).toContain(`[${said}]`);
    expect(told).toEqual([said]);
    const nobody = await connection.call({ name: "ask", args: nameForm });
    expect(nobody.content[0]?.text).toContain("where nobody can be asked");
  });

  it("is no secret because its description warns of giving one: the reference server's own form is asked", async () => {
    const program = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js");
    const connection = await opened({ command: process.execPath, args: [program, "stdio"] });
    const asking = connection.call({ name: "trigger-elicitation-request", args: {}, answers: [] });
    expect((await questionOf(asking)).inputSchema).toMatchObject({ properties: { integer: { type: "integer" } } });
  });

  it("may be to go to an address, and counts as answered once the person has been there", async () => {
    const connection = await olderServer();
    const params = (id: string) => ({
      mode: "url",
      message: "Go",
      url: `https://x.example/a?id=${id}`,
      elicitationId: id,
    });
    const { key, url } = await questionOf(connection.call({ name: "ask", args: params("1"), answers: [] }));
    expect(url).toBe("https://x.example/a?id=1");
    const again = await connection.call({ name: "ask", args: params("2"), answers: [{ key, input: true }] });
    expect(JSON.stringify(again)).toContain("accept");
  });

  it("is declined when it could belong to any of several calls (E1)", async () => {
    const connection = await olderServer();
    const gaveUp = new AbortController();
    const other = connection.call({ name: "silent", args: {}, answers: [], signal: gaveUp.signal });
    expect(await ask(connection, [])).toContain("decline");
    gaveUp.abort();
    await expect(other).rejects.toBeDefined();
  });

  it("reaches its own call where the protocol says which it is", async () => {
    const connection = await newerServer();
    const { key } = await questionOf(ask(connection, []));
    const names = ["Ada", "Grace", "Edith"];
    const asked = names.map((name) => ask(connection, [{ key, input: { name } }]));
    const unanswered = questionOf(ask(connection, []));
    const results = await Promise.all(asked);
    expect(results.map((result, at) => result.includes(names[at] ?? ""))).toEqual([true, true, true]);
    expect((await unanswered).key).toBe(key);
  });
});

function form(properties: Readonly<Record<string, unknown>>): object {
  return { type: "object", properties };
}

async function ask(connection: McpConnection, answers: readonly GivenAnswer[] | undefined): Promise<string> {
  const result = await connection.call({ name: "ask", args: nameForm, ...(answers === undefined ? {} : { answers }) });
  return JSON.stringify(result);
}

async function questionOf(asking: Promise<unknown>): Promise<Question> {
  const failure: unknown = await asking.then(
    (result) => new Error(`It answered ${JSON.stringify(result)}.`),
    (thrown: unknown) => thrown,
  );
  expect(failure).toMatchObject({ code: "input_required" });
  return (failure as { readonly details: Question }).details;
}

type Present = Pick<ConnectorDeps, "elicit">;

function olderServer(present?: Present): Promise<McpConnection> {
  const args = [join(import.meta.dirname, "../hostile-server.fixture.ts"), "fine"];
  return opened({ command: process.execPath, args }, present);
}

async function newerServer(present?: Present): Promise<McpConnection> {
  const answer = toNodeHandler(createMcpHandler(asker));
  const server = createServer((request, response) => void answer(request as never, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => server.close().closeAllConnections());
  return opened({ url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/mcp` }, present);
}

async function opened(address: object, present: Present = {}): Promise<McpConnection> {
  const connector = createMcpConnector({ logger: silentLogger, ...present });
  const config = { id: "asks", name: "asks", enabled: true, ...address };
  const connection = connector.open({ config, secrets: [], onChange: () => undefined });
  closing.push(connection.stop);
  connection.start();
  await connection.settled();
  return connection;
}

function asker(): McpServer {
  const server = new McpServer({ name: "asker", version: "1.0.0" });
  const inputSchema = z.looseObject({});
  server.registerTool("ask", { description: "Asks for a name.", inputSchema }, (_, { mcpReq }) => {
    const given = mcpReq.inputResponses;
    if (given === undefined) {
      const { message, requestedSchema } = nameForm;
      return inputRequired({
        inputRequests: { name: inputRequired.elicit({ message, requestedSchema: requestedSchema as never }) },
      });
    }
    const text = JSON.stringify(acceptedContent(given, "name") ?? given["name"]);
    return { content: [{ type: "text", text }] };
  });
  return server;
}
