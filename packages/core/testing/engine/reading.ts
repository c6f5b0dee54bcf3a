import { describe, expect, it } from "vitest";
import type { HistoryEntry, SessionCore } from "../../src/schema/session.ts";
import type { OpenWorld } from "./engine-world.ts";

const owner = "ann";

export function readingRules(open: OpenWorld): void {
  describe("reading", () => {
    it("lists sessions newest first, page by page, by status", async () => {
      const { engine } = await open();
      const made: string[] = [];
      for (let index = 0; index < 5; index++) made.unshift((await engine.createSession({ owner })).sessionId);
      await engine.cancel({ owner, sessionId: made[1] ?? "" });
      const listed: SessionCore[] = [];
      let cursor: string | undefined;
      do {
        const page = await engine.listSessions({ owner, limit: 2, ...(cursor === undefined ? {} : { cursor }) });
        expect(page.items.length).toBeLessThanOrEqual(2);
        listed.push(...page.items);
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(listed.map(({ sessionId }) => sessionId)).toEqual(made);
      const cancelled = await engine.listSessions({ owner, limit: 1_000, status: ["cancelled", "failed"] });
      expect(cancelled.items.map(({ sessionId }) => sessionId)).toEqual([made[1]]);
      expect(cancelled.nextCursor).toBeUndefined();
    });

    it("shows the newest history, oldest first, with a cursor to what came before", async () => {
      const { engine } = await open();
      const { sessionId } = await engine.createSession({ owner });
      const items = Array.from({ length: 25 }, (_, index) => index);
      await engine.executePlan({ owner, sessionId, plan: "many", input: { items } });
      await engine.settled({ owner, sessionId });
      const entries: HistoryEntry[] = [];
      let cursor: string | undefined;
      do {
        const page = await engine.readSession({
          owner,
          sessionId,
          historyLimit: 10,
          ...(cursor === undefined ? {} : { historyCursor: cursor }),
        });
        entries.unshift(...page.history);
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(entries.map(({ result }) => result)).toEqual(items.map((output) => ({ output })));
      expect((await engine.readSession({ owner, sessionId })).history).toEqual(entries);
    });

    it("gives large values as they were", async () => {
      const { engine } = await open();
      const { sessionId } = await engine.createSession({ owner });
      await engine.executePlan({ owner, sessionId, plan: "large" });
      await engine.settled({ owner, sessionId });
      const { context } = await engine.readSession({ owner, sessionId });
      const ref = context["probe::large_result"] as { readonly $blob: string };
      expect(ref).toMatchObject({ $blob: expect.stringMatching(/^[0-9a-f]{64}$/), mediaType: "application/json" });
      const { bytes, mediaType } = await engine.readBlob({ owner, id: ref.$blob });
      expect(mediaType).toBe("application/json");
      expect(JSON.parse(new TextDecoder().decode(bytes))).toBe("x".repeat(70_000));
    });

    it.each(["0".repeat(64), "", "..", "a/b", "%", "é"])("knows no session and no blob %j", async (id) => {
      const { engine } = await open();
      const ref = { owner, sessionId: id };
      const missing = { code: "session_not_found", retryable: false };
      await expect(engine.readSession(ref)).rejects.toMatchObject(missing);
      await expect(engine.settled(ref)).rejects.toMatchObject(missing);
      await expect(engine.cancel(ref)).rejects.toMatchObject(missing);
      await expect(engine.resume(ref)).rejects.toMatchObject(missing);
      await expect(engine.executePlan({ ...ref, plan: "hold" })).rejects.toMatchObject(missing);
      await expect(engine.readBlob({ owner, id })).rejects.toMatchObject({ code: "blob_not_found" });
    });
  });
}
