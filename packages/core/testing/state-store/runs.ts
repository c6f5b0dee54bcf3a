import { describe, expect, it } from "vitest";
import type { OpenStore } from "./opened-store.ts";
import { AT, core, creation, event, expectRefused, OWNER, update } from "./samples.ts";

const run = { id: "order-A-1", hash: "h1" };

export function runRules(open: OpenStore): void {
  describe("ids of runs", () => {
    it("S11: lead to the session that the commit wrote, for their owner alone", async () => {
      const { store } = await open();
      expect(await store.readRun({ owner: OWNER, id: run.id })).toBeUndefined();
      await store.commit(creation("s", { run }));
      await store.commit(creation("t", { run: { id: run.id, hash: "h2" }, owner: "bob" }));
      expect(await store.readRun({ owner: OWNER, id: run.id })).toEqual({ ...run, sessionId: "s" });
      expect(await store.readRun({ owner: "bob", id: run.id })).toEqual({ id: run.id, hash: "h2", sessionId: "t" });
      expect(await store.readRun({ owner: "eve", id: run.id })).toBeUndefined();
      expect(await store.readRun({ owner: OWNER, id: "order-A" })).toBeUndefined();
    });

    it("S11: are taken by one commit of those that ask at once, and the others change nothing", async () => {
      const { store } = await open();
      const sessions = ["a", "b", "c", "d", "e"];
      const outcomes = await Promise.allSettled(
        sessions.map((id) => store.commit(creation(id, { run, events: [event()] }))),
      );
      expect(outcomes.map(({ status }) => status)).toEqual([
        "fulfilled",
        ...Array.from({ length: 4 }, () => "rejected"),
      ]);
      for (const outcome of outcomes.slice(1)) {
        expect(outcome).toMatchObject({ reason: { code: "run_conflict", details: { runId: run.id, sessionId: "a" } } });
      }
      expect((await store.listSessions({ limit: 10 })).items.map(({ core: { sessionId } }) => sessionId)).toEqual([
        "a",
      ]);
      expect(await store.lastEventSeq()).toBe(1);
      await expectRefused(store.commit(creation("f", { run: { ...run, hash: "h2" } })), "run_conflict");
      await store.commit(creation("b", { run: { id: "order-A-2", hash: "h1" } }));
    });

    it("stay with every run of a session that has several", async () => {
      const { store } = await open();
      await store.commit(creation("s", { run }));
      await store.commit(update("s", 1, { run: { id: "second", hash: "h2" } }));
      await store.commit(update("s", 2));
      for (const id of [run.id, "second"])
        expect(await store.readRun({ owner: OWNER, id })).toMatchObject({ sessionId: "s" });
    });

    it("find their session in lists", async () => {
      const { store } = await open();
      await store.commit(creation("s", { run }));
      await store.commit(creation("t", { run: { id: "other", hash: "h1" } }));
      await store.commit(creation("u", { run, owner: "bob" }));
      const found = async (query: { readonly owner?: string; readonly runId: string; readonly status?: ["failed"] }) =>
        (await store.listSessions({ ...query, limit: 10 })).items.map(({ core: { sessionId } }) => sessionId);
      expect(await found({ owner: OWNER, runId: run.id })).toEqual(["s"]);
      expect(await found({ owner: "bob", runId: run.id })).toEqual(["u"]);
      expect(await found({ runId: run.id })).toEqual(["u", "s"]);
      expect(await found({ owner: OWNER, runId: "none" })).toEqual([]);
      expect(await found({ owner: OWNER, runId: run.id, status: ["failed"] })).toEqual([]);
    });

    it("S11: stay taken when their session is deleted", async () => {
      const { store } = await open();
      await store.commit(creation("s", { run }));
      await store.commit(creation("t", { run: { id: "other", hash: "h1" } }));
      await store.commit({ sessionId: "s", owner: OWNER, expireRuns: AT });
      expect(await store.readRun({ owner: OWNER, id: run.id })).toEqual({ ...run, endedAt: AT });
      expect(await store.readRun({ owner: OWNER, id: "other" })).toMatchObject({ sessionId: "t" });
      await expectRefused(store.commit(creation("u", { run })), "run_expired");
      expect((await store.listSessions({ owner: OWNER, runId: run.id, limit: 10 })).items).toEqual([]);
      expect(await store.readSession("u")).toBeUndefined();
    });

    it("are kept, with those that are expired, when the store is opened again", async () => {
      const { store, reopen } = await open();
      await store.commit(creation("s", { run }));
      await store.commit(creation("t", { run: { id: "gone", hash: "h2" } }));
      await store.commit({ sessionId: "t", owner: OWNER, expireRuns: AT });
      await store.close();
      const kept = await reopen?.();
      if (kept === undefined) return;
      expect(await kept.readRun({ owner: OWNER, id: run.id })).toEqual({ ...run, sessionId: "s" });
      await expectRefused(kept.commit(creation("u", { run })), "run_conflict");
      await expectRefused(kept.commit(creation("u", { run: { id: "gone", hash: "h2" } })), "run_expired");
    });

    it("belong to a commit that writes the session", async () => {
      const { store } = await open();
      await store.commit(creation("s"));
      await expectRefused(store.commit({ sessionId: "s", owner: OWNER, run }), "commit_invalid");
      await expectRefused(store.commit({ sessionId: "", owner: OWNER, run }), "commit_invalid");
      await expectRefused(store.commit({ sessionId: "", owner: OWNER, expireRuns: AT }), "commit_invalid");
      await expectRefused(store.commit(creation("t", { run: { id: "\ud800", hash: "h" } })), "commit_invalid");
      expect((await store.readSession("s"))?.core).toEqual(core("s"));
    });
  });
}
