import { until } from "../../../testing/until.ts";
import { afterEach, describe, expect, it } from "vitest";
import { createSystemClock } from "../../memory/clock.ts";
import { silentLogger } from "../../memory/logger.ts";
import { createMemoryStateStore } from "../../memory/state-store.ts";
import { storeError } from "../../errors/store.ts";
import type { StateStore } from "../../ports/state-store.ts";
import type { SessionCore } from "../../schema/session.ts";
import { createOutboxReader, CURSOR_STRIDE, MAX_ATTENDED, MAX_WAITING, type OutboxReader } from "./outbox-reader.ts";

const name = "test-reader";
const at = "2026-01-01T00:00:00.000Z";
let store: StateStore;
const readers: OutboxReader[] = [];
afterEach(async () => {
  for (const reader of readers.splice(0)) await reader.stop();
});

/** Hastens what is tried again; waits for nothing else. */
const clock = { ...createSystemClock(), after: (_ms: number, then: () => void) => createSystemClock().after(0, then) };

function open(attend: (sessionId: string) => Promise<void>, more: { maxWaiting?: number; store?: StateStore } = {}) {
  const parts = { name, store, clock, logger: silentLogger, ...more };
  const reader = createOutboxReader({
    ...parts,
    type: "session-paused",
    wants: () => true,
    attend: ({ sessionId }) => attend(sessionId),
  });
  readers.push(reader);
  return reader;
}

async function tell(sessionId: string, type: "session-paused" | "step-finished" = "session-paused"): Promise<void> {
  const known = await store.readSession(sessionId);
  const core: SessionCore = {
    sessionId,
    status: "paused",
    createdAt: at,
    updatedAt: at,
    waiting: [],
    run: 0,
    energySpent: 0,
  };
  await store.commit({
    sessionId,
    owner: "me",
    ...(known === undefined ? { session: { core, cursor: null }, expectVersion: 0 } : {}),
    events: [{ type, at, data: {} }],
  });
}

describe("a reader of the outbox", () => {
  it("attends to what happened before it came and after, and goes on behind that the next time (O1)", async () => {
    store = createMemoryStateStore();
    await tell("ses_a");
    await tell("ses_b", "step-finished");
    const seen: string[] = [];
    const attend = (sessionId: string): Promise<void> => Promise.resolve(void seen.push(sessionId));
    const first = open(attend);
    first.start({ catchUp: true });
    await until(() => seen.length === 1);
    await tell("ses_c");
    await until(() => seen.length === 2);
    await first.stop();
    expect(await store.readCursor(name)).toBe(await store.lastEventSeq());
    await tell("ses_d");
    open(attend).start({ catchUp: true });
    await until(() => seen.length === 3);
    expect(seen).toEqual(["ses_a", "ses_c", "ses_d"]);
  });

  it("leaves the past and the cursor alone when it is told to", async () => {
    store = createMemoryStateStore();
    await tell("ses_a");
    const seen: string[] = [];
    const reader = open((sessionId) => Promise.resolve(void seen.push(sessionId)));
    reader.start({ catchUp: false });
    await tell("ses_b");
    await until(() => seen.length === 1);
    await reader.stop();
    expect(seen).toEqual(["ses_b"]);
    expect(await store.readCursor(name)).toBe(0);
  });

  it("does not pass what it could not attend to, and tries it again (O2)", async () => {
    store = createMemoryStateStore();
    let tries = 0;
    const reader = open((sessionId) => {
      if (sessionId !== "ses_bad") return Promise.resolve();
      tries++;
      return Promise.reject(new Error("not now"));
    });
    reader.start({ catchUp: true });
    await tell("ses_good");
    await tell("ses_bad");
    await tell("ses_fine");
    await until(() => tries === 6);
    await reader.stop();
    expect(await store.readCursor(name)).toBe(1);
    const seen: string[] = [];
    open((sessionId) => Promise.resolve(void seen.push(sessionId))).start({ catchUp: true });
    await until(() => seen.length === 2);
    expect(seen).toEqual(["ses_bad", "ses_fine"]);
  });

  it(`attends to ${String(MAX_ATTENDED)} sessions at once, and to each by itself (O3)`, async () => {
    store = createMemoryStateStore();
    const open_: string[] = [];
    let most = 0;
    let done = 0;
    const gate = Promise.withResolvers<void>();
    const reader = open(async (sessionId) => {
      expect(open_).not.toContain(sessionId);
      open_.push(sessionId);
      most = Math.max(most, open_.length);
      await gate.promise;
      open_.splice(open_.indexOf(sessionId), 1);
      done++;
    });
    reader.start({ catchUp: true });
    for (let n = 0; n < 20; n++) await tell(`ses_${String(n)}`);
    for (let n = 0; n < 3; n++) await tell("ses_0");
    gate.resolve();
    // Three more events of one session are one more visit.
    await until(() => done === 21);
    expect(most).toBe(MAX_ATTENDED);
  });

  it("keeps no more in memory than it may, and misses nothing (O4)", async () => {
    store = createMemoryStateStore();
    expect(MAX_WAITING).toBe(10_000);
    const seen = new Set<string>();
    const gate = Promise.withResolvers<void>();
    const reader = open(
      async (sessionId) => {
        await gate.promise;
        seen.add(sessionId);
      },
      { maxWaiting: 2 },
    );
    reader.start({ catchUp: true });
    for (let n = 0; n < 50; n++) await tell(`ses_${String(n)}`);
    gate.resolve();
    await until(() => seen.size === 50);
    await until(async () => (await store.readCursor(name)) === (await store.lastEventSeq()));
  });

  it("moves its cursor past what nobody wants, a stride at a time", async () => {
    store = createMemoryStateStore();
    const reader = open(() => Promise.resolve());
    reader.start({ catchUp: true });
    await tell("ses_a", "step-finished");
    const batch = 100;
    const events = Array.from({ length: batch }, () => ({ type: "step-finished" as const, at, data: {} }));
    for (let n = 1; n + batch < CURSOR_STRIDE; n += batch)
      await store.commit({ sessionId: "ses_a", owner: "me", events });
    for (let left = CURSOR_STRIDE - 1 - (await store.lastEventSeq()); left > 0; left--)
      await tell("ses_a", "step-finished");
    expect(await store.readCursor(name)).toBeLessThan(CURSOR_STRIDE - 1);
    await tell("ses_a", "step-finished");
    await until(async () => (await store.readCursor(name)) === CURSOR_STRIDE);
  });

  it("waits for a store that cannot be read", async () => {
    store = createMemoryStateStore();
    await tell("ses_a");
    let refusals = 2;
    const readEvents: StateStore["readEvents"] = (query) =>
      refusals-- > 0 ? Promise.reject(storeError("store_unavailable", "locked")) : store.readEvents(query);
    const seen: string[] = [];
    open((sessionId) => Promise.resolve(void seen.push(sessionId)), { store: { ...store, readEvents } }).start({
      catchUp: true,
    });
    await until(() => seen.length === 1);
    expect(seen).toEqual(["ses_a"]);
  });
});
