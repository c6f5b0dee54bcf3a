import { setTimeout as sleep } from "node:timers/promises";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MAX_UNREAD_BYTES } from "./event-stream.ts";
import { events, INITIALIZE, type LegacyServer, openLegacyServer, post } from "./legacy-server.fixture.ts";
import { createSessionTransport, MAX_BATCH, type SessionTransport } from "./session-transport.ts";

const ID = "the-session";
let door: LegacyServer;
let transport: SessionTransport;
let heard: JSONRPCMessage[];
let errors: string[];
let deleted: number;
/** What answers a request; by default at once. */
let answer: (id: number) => void;

const result = (id: number): JSONRPCMessage => ({ jsonrpc: "2.0", id, result: { of: id } });
const ping = (id: number) => ({ jsonrpc: "2.0", id, method: "ping" });
const note = (text: string) => ({ jsonrpc: "2.0", method: "notifications/message", params: { text } }) as const;
const say = (body: unknown, headers = {}) => post(door.url, body, headers);

beforeEach(async () => {
  [heard, errors, deleted] = [[], [], 0];
  answer = (id) => void transport.send(result(id));
  transport = createSessionTransport(ID, () => (deleted += 1));
  transport.setSupportedProtocolVersions?.(["2025-11-25", "2025-06-18"]);
  transport.onmessage = (message) => {
    heard.push(message);
    if ("method" in message && "id" in message) answer(Number(message.id));
  };
  transport.onerror = ({ message }) => void errors.push(message);
  await transport.start();
  door = await openLegacyServer((exchange, body) => void transport.handle(exchange, body));
});
afterEach(async () => {
  await transport.close();
  await door.close();
});

const open = async (): Promise<void> => expect((await say(INITIALIZE)).status).toBe(200);
const listen = (headers: Record<string, string> = { accept: "text/event-stream" }) => fetch(door.url, { headers });

describe("a session of the older era", () => {
  it("answers what is there at once whole, with our headers and its own", async () => {
    const response = await say(INITIALIZE);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "mcp-session-id": ID,
      "x-ours": "1",
      "content-type": "text/event-stream",
      "content-length": expect.any(String) as string,
    });
    expect(await events(response)).toEqual([result(0)]);
  });

  it("shows that somebody is there while an answer takes time, and sends what belongs to it before it", async () => {
    await open();
    answer = () => undefined;
    const response = await say(ping(1));
    expect(response.headers.get("content-length")).toBeNull();
    await transport.send(note("half"), { relatedRequestId: 1 });
    await transport.send(result(1));
    expect(await events(response)).toEqual([note("half"), result(1)]);
  });

  it("takes what asks for nothing, and says only that", async () => {
    await open();
    const response = await say(note("hello"));
    expect([response.status, await response.text()]).toEqual([202, ""]);
    expect(heard.at(-1)).toEqual(note("hello"));
  });

  it("answers several on one answer, which ends with the last, whatever their order", async () => {
    await open();
    answer = () => undefined;
    const response = await say([ping(1), note("x"), ping(2)]);
    await transport.send(result(2));
    await transport.send(result(1));
    expect(await events(response)).toEqual([result(2), result(1)]);
  });

  it("takes as many at once as the bound says, and not one more", async () => {
    await open();
    const batch = Array.from({ length: MAX_BATCH + 1 }, (_, at) => ping(at + 1));
    expect((await say(batch)).status).toBe(400);
    expect(heard).toHaveLength(1);
    expect(await events(await say(batch.slice(1)))).toHaveLength(MAX_BATCH);
  });

  it("sends what belongs to no request to whoever listens, and to nobody else", async () => {
    await open();
    await transport.send(note("lost"));
    const stream = await listen();
    await transport.send(note("heard"));
    await transport.close();
    expect(await events(stream)).toEqual([note("heard")]);
  });

  it("has one listener at a time; the next may come when that one has gone", async () => {
    await open();
    const leave = new AbortController();
    await fetch(door.url, { headers: { accept: "text/event-stream" }, signal: leave.signal });
    expect((await listen()).status).toBe(409);
    leave.abort();
    await vi.waitFor(async () => expect((await listen()).status).toBe(200));
  });

  it("loses nothing but the answer when whoever asked has gone, whose id stays taken until then", async () => {
    await open();
    answer = () => undefined;
    const leave = new AbortController();
    const headers = { accept: "application/json, text/event-stream", "content-type": "application/json" };
    await fetch(door.url, { method: "POST", headers, body: JSON.stringify(ping(1)), signal: leave.signal });
    leave.abort();
    const question = { jsonrpc: "2.0", id: 7, method: "elicitation/create", params: {} } as const;
    await vi.waitFor(() =>
      expect(transport.send(question, { relatedRequestId: 1 })).rejects.toThrow("The client has gone"),
    );
    await transport.send(note("half"), { relatedRequestId: 1 });
    expect((await say(ping(1))).status).toBe(400);
    await transport.send(result(1));
    expect(errors).toEqual(["Nobody waits for the answer to request 1 any more."]);
    answer = (id) => void transport.send(result(id));
    expect(await events(await say(ping(1)))).toEqual([result(1)]);
  });

  it("ends the answer to what was cancelled, and what comes for it later is lost", async () => {
    await open();
    answer = () => undefined;
    const cancelled = (requestId: unknown) => ({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId },
    });
    const [alone, both] = [await say(ping(1)), await say([ping(2), ping(3)])];
    for (const id of [1, 2, 99, null]) expect((await say(cancelled(id))).status).toBe(202);
    expect(await events(alone)).toEqual([]);
    await transport.send(result(1));
    expect(errors).toHaveLength(1);
    await transport.send(result(3));
    expect(await events(both)).toEqual([result(3)]);
    expect(heard.filter((message) => "method" in message && message.method.endsWith("cancelled"))).toHaveLength(4);
    answer = (id) => void transport.send(result(id));
    expect(await events(await say(ping(1)))).toEqual([result(1)]);
  });

  it("sends a message of any size to whoever reads", async () => {
    await open();
    answer = () => undefined;
    const response = await say(ping(1));
    const long = note("x".repeat(MAX_UNREAD_BYTES + 1));
    await transport.send(long, { relatedRequestId: 1 });
    const said = events(response);
    await transport.send(result(1));
    expect(await said).toEqual([long, result(1)]);
  });

  it("lets go of whoever does not read", async () => {
    await open();
    answer = () => undefined;
    const response = await say(ping(1));
    const megabyte = note("x".repeat(1024 * 1024));
    for (let sent = 0; sent < 4 * MAX_UNREAD_BYTES; sent += 1024 * 1024) {
      await transport.send(megabyte, { relatedRequestId: 1 });
      await sleep(0);
    }
    await expect(response.text()).rejects.toThrow(/terminated/);
    await vi.waitFor(async () => {
      await transport.send(result(1));
      expect(errors).not.toEqual([]);
    });
  });

  it("ends with DELETE, and is not there any more", async () => {
    await open();
    const stream = await listen();
    expect((await fetch(door.url, { method: "DELETE" })).status).toBe(200);
    expect(deleted).toBe(1);
    expect(await events(stream)).toEqual([]);
    expect((await say(ping(1))).status).toBe(404);
  });

  it("refuses an id that is still being answered", async () => {
    await open();
    answer = () => undefined;
    const first = await say(ping(1));
    expect((await say(ping(1))).status).toBe(400);
    expect((await say([ping(2), ping(2)])).status).toBe(400);
    await transport.send(result(1));
    expect(await events(first)).toEqual([result(1)]);
  });

  it.each<[string, unknown, Record<string, string>, number]>([
    ["a client that takes no events", ping(1), { accept: "application/json" }, 406],
    ["another type", ping(1), { "content-type": "text/plain" }, 415],
    ["what is no message", { jsonrpc: "2.0", id: 1 }, {}, 400],
    ["a batch with what is none", [ping(1), 7], {}, 400],
    ["a revision that nobody speaks", ping(1), { "mcp-protocol-version": "1999-01-01" }, 400],
    ["a second opening", INITIALIZE, {}, 400],
  ])("refuses %s, and nobody hears of it", async (_, body, headers, status) => {
    await open();
    const response = await say(body, headers);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({
      jsonrpc: "2.0",
      id: null,
      error: { code: expect.any(Number) as number },
    });
    expect(heard).toHaveLength(1);
  });

  it("refuses everything before it is opened, and an opening in company", async () => {
    expect((await say(ping(1))).status).toBe(400);
    expect((await listen()).status).toBe(400);
    expect((await say([INITIALIZE, ping(1)])).status).toBe(400);
    expect(heard).toEqual([]);
    await open();
    expect((await listen({ accept: "application/json" })).status).toBe(406);
  });
});
