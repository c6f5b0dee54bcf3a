import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger, type StoredEvent } from "@ergon/core";
import { createMemoryLogger } from "@ergon/core/store-kit";
import { createEngineWorld, type EngineWorld } from "@ergon/core/testing";
import { openSqliteStateStore } from "@ergon/node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { HttpParts } from "./http-parts.ts";
import { REQUEST_LIMITS } from "./limits.ts";
import { FIRST_TOKEN, serve, type Served } from "../serve.fixture.ts";

const owner = "admin";

describe("event streams", () => {
  let folder: string;
  let world: EngineWorld;
  let served: Served;
  const start = async (options: Partial<HttpParts> = {}): Promise<void> => {
    const path = join(folder, "state.db");
    world = createEngineWorld({ store: openSqliteStateStore({ path, logger: silentLogger }) });
    served = await serve(world, options);
  };
  const stop = async (): Promise<void> => {
    await served.close();
    await world.close();
  };
  const restart = async (options: Partial<HttpParts> = {}): Promise<void> => {
    await stop();
    await start(options);
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "ergon-events-"));
    await start();
  });
  afterEach(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("have the sequence number as id, the type as event, and the event as data", async () => {
    const { sessionId } = await world.engine.createSession({ owner });
    const reader = await open(`/sessions/${sessionId}/events`);
    expect(reader.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(reader.headers.get("cache-control")).toBe("no-store");
    const text = await reader.until("\n\n", "data:");
    const [, seq] = /\nid: (\d+)\nevent: session-created\ndata: (\{.*\})\n\n$/.exec(text) ?? [];
    const [event] = eventsIn(text);
    expect(event).toMatchObject({ seq: Number(seq), type: "session-created", sessionId, owner });
    expect(text).toMatch(/^retry: \d+\n\n/);
  });

  it("begin at a session's beginning, but with what is new for all of them", async () => {
    const { sessionId } = await world.engine.createSession({ owner });
    const [all, fromStart, fromNow] = await Promise.all([
      open("/events"),
      open("/events?after=0"),
      open(`/sessions/${sessionId}/events?after=now`),
    ]);
    await world.engine.cancel({ owner, sessionId });
    expect(types(await all.until("session-cancelled"))).toEqual(["session-cancelled"]);
    expect(types(await fromStart.until("session-cancelled"))).toEqual(["session-created", "session-cancelled"]);
    expect(types(await fromNow.until("session-cancelled"))).toEqual(["session-cancelled"]);
  });

  it("show each of many readers every event once, and no reader another principal's", async () => {
    const bot = { authorization: `Bearer ${await served.tokenFor("bot", "agent")}` };
    const readers = await Promise.all(Array.from({ length: 20 }, () => open("/events")));
    const foreign = await open("/events", bot);
    const made: string[] = [];
    for (let n = 0; n < 30; n += 1) made.push((await world.engine.createSession({ owner })).sessionId);
    const theirs = await world.engine.createSession({ owner: "bot" });
    const ids = (text: string) => eventsIn(text).map(({ sessionId }) => sessionId);
    for (const reader of readers) expect(ids(await reader.until(made.at(-1) ?? "?"))).toEqual(made);
    expect(ids(await foreign.until(theirs.sessionId))).toEqual([theirs.sessionId]);
  });

  it("go on after a break and after a restart, without a gap and without an event twice", async () => {
    const { sessionId } = await world.engine.createSession({ owner });
    const path = `/sessions/${sessionId}/events`;
    const first = await open(path);
    await world.engine.executePlan({ owner, sessionId, plan: "ask-twice" });
    const before = eventsIn(await first.until("session-paused"));
    first.leave();
    await world.engine.resume({ owner, sessionId, step: "one", input: { n: 1 } });
    await world.engine.settled({ owner, sessionId });
    await restart();
    const again = await open(path, { "last-event-id": String(before.at(-1)?.seq) });
    await world.engine.resume({ owner, sessionId, step: "two", input: { n: 2 } });
    const after = eventsIn(await again.until("session-completed"));
    const whole = eventsIn(await (await open(path)).until("session-completed"));
    expect([...before, ...after]).toEqual(whole);
  });

  it("begin anew for a reader whose last event was another store's", async () => {
    const { sessionId } = await world.engine.createSession({ owner });
    const reader = await open(`/sessions/${sessionId}/events`, { "last-event-id": "1000000" });
    expect(types(await reader.until("session-created"))).toEqual(["session-created"]);
  });

  it.each(["x", "-1", "1.5", "1e99"])("refuse %s as the last event", async (id) => {
    const answer = await served.ask("GET", "/events", { headers: { "last-event-id": id } });
    expect(answer).toMatchObject({ status: 422, body: { code: "input_invalid" } });
  });

  it("show signs of life while nothing happens", async () => {
    await restart({ streamTimes: { heartbeatMs: 30, stallMs: 1_000 } });
    const reader = await open("/events");
    const text = await reader.until(":\n\n:\n\n:\n\n");
    expect(text).toMatch(/^retry: \d+\n\n(:\n\n)+$/);
  });

  it("leave the run going when the reader leaves", async () => {
    const { sessionId } = await world.engine.createSession({ owner });
    const reader = await open(`/sessions/${sessionId}/events`);
    await world.engine.executePlan({ owner, sessionId, plan: "hold" });
    await reader.until("step-started");
    reader.leave();
    world.release();
    expect(await world.engine.settled({ owner, sessionId })).toMatchObject({ status: "completed" });
    await expect.poll(async () => (await served.ask("GET", "/stats")).body["eventStreams"]).toBe(0);
  });

  it("are bounded in number for each principal", async () => {
    await restart({ limits: { ...REQUEST_LIMITS, streams: 2 } });
    const [first] = await Promise.all([open("/events"), open("/events")]);
    expect(await served.ask("GET", "/events")).toMatchObject({ status: 429, body: { code: "too_many_requests" } });
    expect((await served.ask("GET", "/stats")).status).toBe(200);
    first?.leave();
    await expect.poll(async () => (await served.ask("GET", "/stats")).body["eventStreams"]).toBe(1);
    await open("/events");
  });

  it("of readers that left before they began cost nothing", async () => {
    const lastSeq = async (): Promise<number> => {
      await new Promise((done) => setTimeout(done, 100));
      return 0;
    };
    const outbox = { lastSeq, read: () => Promise.resolve([]), changes: () => 0 };
    await restart({ outbox, limits: { ...REQUEST_LIMITS, atOnce: 2, streams: 1 } });
    for (let index = 0; index < 5; index += 1) {
      const headers = { authorization: `Bearer ${FIRST_TOKEN}` };
      const early = fetch(new URL("/events", served.url), { headers, signal: AbortSignal.timeout(30) });
      await expect(early).rejects.toThrow("timeout");
      await new Promise((done) => setTimeout(done, 100));
    }
    expect((await served.ask("GET", "/stats")).body["eventStreams"]).toBe(0);
    await open("/events");
  });

  it("that break inside end, are logged, and take nothing else with them", async () => {
    const logger = createMemoryLogger();
    const follow = (): AsyncIterable<StoredEvent> => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("the disk is gone")) }),
    });
    await restart({ logger, engine: { ...world.engine, follow } });
    const reader = await open("/events");
    await reader.ended;
    expect(JSON.stringify(logger.entries())).toContain("the disk is gone");
    expect((await served.ask("GET", "/stats")).body["eventStreams"]).toBe(0);
  });

  it("end when the server closes", async () => {
    const reader = await open("/events");
    const startedMs = performance.now();
    await served.server.close({ graceMs: 5_000 });
    await reader.ended;
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  });

  it("of a reader that reads nothing are closed, and slow nobody down", { timeout: 30_000 }, async () => {
    await restart({ streamTimes: { heartbeatMs: 15_000, stallMs: 300 } });
    const { sessionId } = await world.engine.createSession({ owner });
    const at = new Date().toISOString();
    const data = { text: "x".repeat(60_000) };
    // More than the connection's buffers take.
    for (let count = 0; count < 20; count += 1) {
      const events = Array.from({ length: 20 }, () => ({ type: "step-progressed", at, data }) as const);
      await world.store.commit({ sessionId, owner, events });
    }
    const quick = await timed();
    const stalled = connect({ port: Number(new URL(served.url).port), host: "127.0.0.1" });
    stalled.pause().on("error", () => undefined);
    stalled.write(`GET /events?after=0 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${FIRST_TOKEN}\r\n\r\n`);
    await expect.poll(async () => (await served.ask("GET", "/stats")).body["eventStreams"]).toBe(1);
    const beside = await timed();
    expect(beside).toBeLessThan(quick * 3 + 1_000);
    await expect.poll(async () => (await served.ask("GET", "/stats")).body["eventStreams"], { timeout: 5_000 }).toBe(0);
    stalled.destroy();
  });

  async function timed(): Promise<number> {
    const { sessionId } = await world.engine.createSession({ owner });
    const startedMs = performance.now();
    const items = Array.from({ length: 200 }, (_, index) => index);
    await world.engine.executePlan({ owner, sessionId, plan: "many", input: { items } });
    expect(await world.engine.settled({ owner, sessionId })).toMatchObject({ status: "completed" });
    return performance.now() - startedMs;
  }

  async function open(path: string, headers: Readonly<Record<string, string>> = {}) {
    const leaving = new AbortController();
    const response = await fetch(new URL(path, served.url), {
      headers: { authorization: `Bearer ${FIRST_TOKEN}`, ...headers },
      signal: leaving.signal,
    });
    expect(response.status).toBe(200);
    let text = "";
    const ended = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) text += decoder.decode(chunk as Uint8Array, { stream: true });
    })().catch(() => undefined);
    return {
      headers: response.headers,
      ended,
      leave: () => leaving.abort(),
      /** All that came, once it holds every one of these and ends with a whole event. */
      until: async (...parts: readonly string[]): Promise<string> => {
        await expect.poll(() => text.endsWith("\n\n") && parts.every((part) => text.includes(part))).toBe(true);
        return text;
      },
    };
  }
});

function eventsIn(text: string): StoredEvent[] {
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? "") as StoredEvent);
}

function types(text: string): string[] {
  return eventsIn(text).map(({ type }) => type);
}
