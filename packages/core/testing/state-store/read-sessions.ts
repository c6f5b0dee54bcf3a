import { describe, expect, it } from "vitest";
import type { StateStore } from "../../src/ports/state-store.ts";
import type { OpenStore } from "./opened-store.ts";
import { core, creation, expectRefused, OWNER, PLAN, update } from "./samples.ts";

export function sessionRules(open: OpenStore): void {
  describe("sessions", () => {
    it("are read as they were written", async () => {
      const { store } = await open();
      expect(await store.readSession("s")).toBeUndefined();
      await store.commit(
        creation("s", {
          session: { core: core("s"), cursor: { at: 1 }, planHash: "h", input: null },
          plan: { hash: "h", plan: PLAN },
        }),
      );
      expect(await store.readSession("s")).toEqual({
        core: core("s"),
        cursor: { at: 1 },
        planHash: "h",
        input: null,
        owner: OWNER,
        version: 1,
      });
      expect(await store.readPlan("h")).toEqual(PLAN);
    });

    it("keep owner, plan and input when a later write leaves them out", async () => {
      const { store } = await open();
      await store.commit(creation("s", { session: { core: core("s"), cursor: null, planHash: "h", input: { a: 1 } } }));
      const later = { core: core("s", "completed"), cursor: null };
      await store.commit({ sessionId: "s", owner: "bob", expectVersion: 1, session: later });
      expect(await store.readSession("s")).toEqual({
        ...later,
        planHash: "h",
        input: { a: 1 },
        owner: OWNER,
        version: 2,
      });
      await store.commit(update("s", 2, { session: { ...later, planHash: "i", input: 2 } }));
      expect(await store.readSession("s")).toMatchObject({ planHash: "i", input: 2 });
    });

    it("keep their plan's first text", async () => {
      const { store } = await open();
      await store.commit(creation("s", { plan: { hash: "h", plan: PLAN } }));
      await store.commit(update("s", 1, { plan: { hash: "h", plan: { ...PLAN, description: "other" } } }));
      expect(await store.readPlan("h")).toEqual(PLAN);
    });

    it("are listed by creation, by owner and by status, a page at a time", async () => {
      const { store } = await open();
      const ids = Array.from({ length: 7 }, (_, n) => `s${String(n)}`);
      for (const [n, id] of ids.entries()) await store.commit(creation(id, { owner: n % 2 === 0 ? OWNER : "bob" }));
      await store.commit(update("s2", 1, { session: { core: core("s2", "completed"), cursor: null } }));
      await store.commit(update("s4", 1, { session: { core: core("s4", "failed"), cursor: null } }));
      await store.commit(update("s4", 2, { session: { core: core("s4", "running"), cursor: null } }));
      expect(await listed(store, { limit: 3 })).toEqual([["s6", "s5", "s4"], ["s3", "s2", "s1"], ["s0"]]);
      expect(await listed(store, { limit: 7, order: "oldest" })).toEqual([ids]);
      expect(await listed(store, { limit: 2, owner: OWNER })).toEqual([
        ["s6", "s4"],
        ["s2", "s0"],
      ]);
      expect(await listed(store, { limit: 9, status: ["completed", "failed"] })).toEqual([["s2"]]);
      expect(await listed(store, { limit: 2, status: ["running"], order: "oldest", owner: OWNER })).toEqual([
        ["s0", "s4"],
        ["s6"],
      ]);
      expect(await listed(store, { limit: 2, status: [] })).toEqual([[]]);
      expect(await listed(store, { limit: 2, owner: "eve" })).toEqual([[]]);
    });

    it("move to no other page while one pages through them", async () => {
      const { store } = await open();
      for (const id of ["a", "b", "c", "d"]) await store.commit(creation(id));
      const first = await store.listSessions({ limit: 2 });
      await store.commit(creation("e"));
      await store.commit(update("a", 1));
      const second = await store.listSessions({
        limit: 2,
        ...(first.nextCursor === undefined ? {} : { cursor: first.nextCursor }),
      });
      expect([...first.items, ...second.items].map((record) => record.core.sessionId)).toEqual(["d", "c", "b", "a"]);
    });

    it("refuse a cursor or a limit that makes no sense", async () => {
      const { store } = await open();
      for (const cursor of ["", "x", "-1", "1e3", "9".repeat(40)])
        await expectRefused(store.listSessions({ cursor, limit: 1 }), "input_invalid");
      for (const limit of [0, -1, 1.5, Number.NaN]) await expectRefused(store.listSessions({ limit }), "input_invalid");
      await expectRefused(
        store.readScopes({ sessionId: "s", scopePrefix: "", cursor: "{}", limit: 1 }),
        "input_invalid",
      );
      await expectRefused(store.readEvents({ afterSeq: -1, limit: 1 }), "input_invalid");
    });
  });
}

async function listed(store: StateStore, query: Parameters<StateStore["listSessions"]>[0]): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = await store.listSessions({ ...query, ...(cursor === undefined ? {} : { cursor }) });
    pages.push(page.items.map((record) => record.core.sessionId));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return pages;
}
