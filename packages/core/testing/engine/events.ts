import { describe, expect, it } from "vitest";
import type { Engine, FollowEvents } from "../../src/ports/engine.ts";
import type { StoredEvent } from "../../src/schema/event.ts";
import type { OpenWorld } from "./engine-world.ts";

const owner = "ann";

export function eventRules(open: OpenWorld): void {
  describe("events", () => {
    it("come in order from the beginning, and live", async () => {
      const { engine, world } = await open();
      const { sessionId } = await engine.createSession({ owner });
      const following = collect(engine, { owner, sessionId, afterSeq: 0 }, isEnd);
      await engine.executePlan({ owner, sessionId, plan: "hold" });
      world.release();
      const events = await following;
      expect(events[0]).toMatchObject({ type: "session-created", owner, sessionId });
      expect(events.map(({ type }) => type)).toEqual(
        expect.arrayContaining(["session-started", "step-started", "step-finished"]),
      );
      expect(events.at(-1)?.type).toBe("session-completed");
      const seqs = events.map(({ seq }) => seq);
      expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
    });

    it("go on behind any of them without a gap and without one twice", async () => {
      const { engine } = await open();
      const { sessionId } = await engine.createSession({ owner });
      await engine.executePlan({ owner, sessionId, plan: "echo", input: { text: "x" } });
      const all = await collect(engine, { owner, sessionId, afterSeq: 0 }, isEnd);
      for (const [index, { seq }] of all.slice(0, -1).entries()) {
        expect(await collect(engine, { owner, sessionId, afterSeq: seq }, isEnd)).toEqual(all.slice(index + 1));
      }
    });

    it("come whole when there are more than are read at once", async () => {
      const { engine } = await open();
      const { sessionId } = await engine.createSession({ owner });
      const items = Array.from({ length: 120 }, (_, index) => index);
      await engine.executePlan({ owner, sessionId, plan: "many", input: { items } });
      const events = await collect(engine, { owner, sessionId, afterSeq: 0 }, isEnd);
      expect(events.filter(({ type }) => type === "step-finished").length).toBeGreaterThanOrEqual(items.length);
    });

    it("of all sessions come in one stream", async () => {
      const { engine } = await open();
      const sessions = await Promise.all([1, 2, 3].map(() => engine.createSession({ owner })));
      let ended = 0;
      const following = collect(engine, { owner, afterSeq: 0 }, (event) => isEnd(event) && ++ended === sessions.length);
      for (const { sessionId } of sessions)
        await engine.executePlan({ owner, sessionId, plan: "echo", input: { text: "x" } });
      const events = await following;
      for (const { sessionId } of sessions) {
        const own = await collect(engine, { owner, sessionId, afterSeq: 0 }, isEnd);
        expect(events.filter((event) => event.sessionId === sessionId)).toEqual(own);
      }
    });

    it("come from now on, for whoever does not care for the past", async () => {
      const { engine, world } = await open();
      const { sessionId } = await engine.createSession({ owner });
      await engine.executePlan({ owner, sessionId, plan: "hold" });
      const { promise: begun, resolve } = Promise.withResolvers<number>();
      const following = collect(engine, { owner, afterSeq: "now", onBegun: resolve }, isEnd);
      const after = await begun;
      world.release();
      const events = await following;
      expect(events.map(({ type }) => type)).not.toContain("session-started");
      expect(events.at(-1)).toMatchObject({ type: "session-completed", sessionId });
      expect(await collect(engine, { owner, afterSeq: after }, isEnd)).toEqual(events);
    });

    it("end when nobody listens any more", async () => {
      const { engine } = await open();
      const { sessionId } = await engine.createSession({ owner });
      const before = new AbortController();
      before.abort();
      for await (const event of engine.follow({ owner, sessionId, afterSeq: 0, signal: before.signal })) {
        expect(event).toBeUndefined();
      }
      const during = new AbortController();
      const idle = collect(engine, { owner, sessionId, afterSeq: 1_000_000 }, () => false, during);
      during.abort();
      expect(await idle).toEqual([]);
    });

    it("of a session that is not there are refused", async () => {
      const { engine } = await open();
      for (const sessionId of ["none", "..", ""]) {
        const following = collect(engine, { owner, sessionId, afterSeq: 0 }, isEnd);
        await expect(following).rejects.toMatchObject({ code: "session_not_found" });
      }
    });
  });
}

export async function collect(
  engine: Engine,
  request: Omit<FollowEvents, "signal">,
  isLast: (event: StoredEvent) => boolean,
  stop = new AbortController(),
): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const event of engine.follow({ ...request, signal: stop.signal })) {
    events.push(event);
    if (isLast(event)) stop.abort();
  }
  return events;
}

export function isEnd({ type }: StoredEvent): boolean {
  return type === "session-completed" || type === "session-failed" || type === "session-cancelled";
}
