import { describe, expect, it } from "vitest";
import { MAX_QUEUED_COMMITS } from "../../src/store-kit/commit-queue.ts";
import { MAX_KEY_CHARS } from "../../src/store-kit/commit-checks.ts";
import { MAX_COMMIT_CHARS, MAX_COMMIT_ROWS } from "../../src/store-kit/commit-rows.ts";
import type { Commit } from "../../src/ports/state-store.ts";
import type { OpenStore } from "./opened-store.ts";
import {
  AT,
  core,
  creation,
  event,
  everything,
  expectRefused,
  finish,
  OWNER,
  PLAN,
  start,
  update,
  whole,
} from "./samples.ts";

export function commitRules(open: OpenStore): void {
  describe("a commit", () => {
    it("S1: leaves nothing behind when one of its rows is refused", async () => {
      const { store } = await open();
      await store.commit(creation("s", { journal: [start("a"), whole("b")], events: [event()] }));
      const before = await everything(store, "s");
      const commit = update("s", 1, {
        plan: { hash: "p", plan: PLAN },
        context: [{ scope: "", key: "k", value: { kind: "inline", value: 1 } }],
        journal: [start("c"), finish("a"), finish("b")],
        energy: [{ at: AT, cause: "tool", units: 3 }],
        blobs: [{ ref: { $blob: "0".repeat(64), bytes: 1, mediaType: "text/plain" }, at: AT }],
        events: [event()],
        cursor: { name: "reader", seq: 1 },
      });
      await expectRefused(store.commit(commit), "commit_invalid");
      expect(await everything(store, "s")).toEqual(before);
      expect(await store.readPlan("p")).toBeUndefined();
      expect(await store.readBlobRow("0".repeat(64))).toBeUndefined();
      expect(await store.readCursor("reader")).toBe(0);
      expect(await store.lastEventSeq()).toBe(1);
    });

    it("S2: is there after the store was closed and opened again", async () => {
      const { store, reopen } = await open();
      await store.commit(creation("s", { journal: [start("a")], events: [event({ n: 1 })], durable: true }));
      await store.commit(update("s", 1, { journal: [finish("a")], events: [event({ n: 2 })] }));
      const before = await everything(store, "s");
      const again = reopen === undefined ? store : await reopen();
      expect(await everything(again, "s")).toEqual(before);
      expect(await again.commit(update("s", 2, { events: [event()] }))).toEqual({ version: 3, lastSeq: 3 });
    });

    it("S3: is refused when the session is at another version, and changes nothing", async () => {
      const { store } = await open();
      await expectRefused(store.commit(update("s", 1)), "session_conflict");
      expect(await store.commit(creation("s"))).toEqual({ version: 1, lastSeq: 0 });
      const before = await everything(store, "s");
      for (const wrong of [0, 2]) {
        await expectRefused(store.commit(update("s", wrong, { events: [event()] })), "session_conflict");
      }
      await expectRefused(
        store.commit({ sessionId: "s", owner: OWNER, expectVersion: 7, events: [event()] }),
        "session_conflict",
      );
      expect(await everything(store, "s")).toEqual(before);
    });

    it("S4: that fails does not take its neighbours of the same turn with it", async () => {
      const { store } = await open();
      await store.commit(creation("s", { journal: [whole("a")] }));
      const outcomes = await Promise.allSettled([
        store.commit(creation("t", { events: [event({ of: "t" })] })),
        store.commit(update("s", 1, { journal: [start("b"), finish("a")], events: [event({ of: "bad" })] })),
        store.commit(update("s", 1, { journal: [start("b")], events: [event({ of: "s" })] })),
        store.commit(creation("s", { events: [event({ of: "bad" })] })),
        store.commit(creation("u", { journal: [start("a"), start("a")] })),
        store.commit(update("t", 1, { events: [event({ of: "t again" })] })),
      ]);
      expect(outcomes.map(({ status }) => status)).toEqual([
        "fulfilled",
        "rejected",
        "fulfilled",
        "rejected",
        "rejected",
        "fulfilled",
      ]);
      const events = await store.readEvents({ afterSeq: 0, limit: 10 });
      expect(events.map(({ data }) => data["of"])).toEqual(["t", "s", "t again"]);
      expect(await store.readSession("u")).toBeUndefined();
      expect((await store.readSession("s"))?.version).toBe(2);
    });

    it("S4: of one session applies in the order in which it was made", async () => {
      const { store } = await open();
      const turns = Array.from({ length: 50 }, (_, n) =>
        store.commit(n === 0 ? creation("s") : update("s", n, { events: [event({ n })] })),
      );
      expect((await Promise.all(turns)).map(({ version }) => version)).toEqual(turns.map((_, n) => n + 1));
      const events = await store.readEvents({ afterSeq: 0, sessionId: "s", limit: 100 });
      expect(events.map(({ data }) => data["n"])).toEqual(Array.from({ length: 49 }, (_, n) => n + 1));
    });

    it("S9: is asked for late when it is a function, and holds what came to it until then", async () => {
      const { store } = await open();
      const events = [event({ n: 1 })];
      const made = store.commit(() => creation("s", { events }));
      events.push(event({ n: 2 }));
      expect(await made).toEqual({ version: 1, lastSeq: 2 });
    });

    it("S5: gives events numbers that grow without reuse, also after refused ones", async () => {
      const { store, reopen } = await open();
      expect(await store.lastEventSeq()).toBe(0);
      await store.commit(creation("s", { events: [event(), event()] }));
      await expectRefused(store.commit(update("s", 9, { events: [event()] })), "session_conflict");
      await expectRefused(
        store.commit(update("s", 1, { journal: [start("a"), start("a")], events: [event()] })),
        "commit_invalid",
      );
      const again = reopen === undefined ? store : await reopen();
      expect(await again.commit(update("s", 1, { events: [event()] }))).toEqual({ version: 2, lastSeq: 3 });
      expect((await again.readEvents({ afterSeq: 0, limit: 10 })).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    });

    it("S6: keeps the first result of a journal row", async () => {
      const { store } = await open();
      await store.commit(creation("s", { journal: [start("a"), start("b"), whole("c")] }));
      await store.commit(update("s", 1, { journal: [finish("a", { state: "unknown", result: { output: 1 } })] }));
      for (const position of ["a", "c"]) {
        await expectRefused(
          store.commit(update("s", 2, { journal: [finish(position, { result: { output: 2 } })] })),
          "commit_invalid",
        );
      }
      await expectRefused(store.commit(update("s", 2, { journal: [finish("b"), finish("b")] })), "commit_invalid");
      await expectRefused(store.commit(update("s", 2, { journal: [finish("nowhere")] })), "commit_invalid");
      await expectRefused(store.commit(update("s", 2, { journal: [start("a")] })), "commit_invalid");
      await expectRefused(store.commit(update("s", 2, { journal: [whole("b")] })), "commit_invalid");
      expect((await store.readJournalRow("s", "a"))?.result).toEqual({ output: 1 });
      expect((await store.readJournalRow("s", "b"))?.state).toBe("started");
      await store.commit(update("s", 2, { journal: [start("d"), finish("d")] }));
      expect((await store.readJournalRow("s", "d"))?.state).toBe("finished");
    });

    it("S7: is seen by reads once it has resolved", async () => {
      const { store } = await open();
      for (let n = 0; n < 20; n += 1) {
        await store.commit(n === 0 ? creation("s") : update("s", n));
        expect((await store.readSession("s"))?.version).toBe(n + 1);
      }
    });

    it("S8: names a session that exists, creates it, or names none", async () => {
      const { store } = await open();
      await expectRefused(store.commit({ sessionId: "s", owner: OWNER, events: [event()] }), "session_not_found");
      const none = { sessionId: "", owner: OWNER };
      const spent = { at: AT, cause: "replenish", units: -1 } as const;
      expect(await store.commit({ ...none, events: [event()], energy: [spent] })).toEqual({ version: 0, lastSeq: 1 });
      expect(await store.readEvents({ afterSeq: 0, limit: 5 })).toEqual([{ seq: 1, owner: OWNER, ...event() }]);
      const refused: Partial<Commit>[] = [
        { journal: [start("a")] },
        { context: [{ scope: "", key: "k", value: { kind: "inline", value: 1 } }] },
        { expectVersion: 0, session: { core: core("s"), cursor: null } },
        { expectVersion: 0 },
      ];
      for (const more of refused) await expectRefused(store.commit({ ...none, ...more }), "commit_invalid");
      await store.commit(creation("s"));
      expect(await store.commit({ sessionId: "s", owner: OWNER, events: [event()] })).toEqual({
        version: 1,
        lastSeq: 2,
      });
    });

    it("is taken as it was when it was made", async () => {
      const { store } = await open();
      const cursor = [1];
      const data: Record<string, string> = { at: "first" };
      const made = store.commit(creation("s", { session: { core: core("s"), cursor }, events: [event(data)] }));
      cursor.push(2);
      data["at"] = "second";
      await made;
      const record = await store.readSession("s");
      expect(record?.cursor).toEqual([1]);
      (record as unknown as { cursor: number[] }).cursor.push(3);
      expect((await store.readSession("s"))?.cursor).toEqual([1]);
      expect((await store.readEvents({ afterSeq: 0, limit: 1 }))[0]?.data).toEqual({ at: "first" });
    });

    it("is refused when it is not what a store can keep", async () => {
      const { store } = await open();
      const circle: Record<string, unknown> = {};
      circle["self"] = circle;
      const refused: Commit[] = [
        creation("s", { expectVersion: -1 }),
        creation("s", { expectVersion: 0.5 }),
        { sessionId: "s", owner: OWNER, session: { core: core("s"), cursor: null } },
        creation("s", { session: { core: core("t"), cursor: null } }),
        creation("s", { session: { core: core("s"), cursor: circle as never } }),
        creation("s", { session: { core: core("s"), cursor: undefined as never } }),
        creation("s", { events: [event({ big: 1n as never })] }),
        creation("s", { energy: [{ at: AT, cause: "tool", units: Number.NaN }] }),
        creation("s", { journal: [whole("a", { energyUnits: Number.POSITIVE_INFINITY })] }),
        creation("s", { journal: [start("\ud800")] }),
        creation("s", { journal: [start("x".repeat(MAX_KEY_CHARS + 1))] }),
        creation("s", { cursor: { name: "r", seq: -1 } }),
        creation("s".repeat(MAX_KEY_CHARS + 1)),
      ];
      for (const commit of refused) await expectRefused(store.commit(commit), "commit_invalid");
      expect((await store.listSessions({ limit: 10 })).items).toEqual([]);
      expect(await store.lastEventSeq()).toBe(0);
    });

    it(
      "may have as many rows, characters and long keys as its bounds say, and not one more",
      { timeout: 30_000 },
      async () => {
        const { store } = await open();
        const energy = Array.from({ length: MAX_COMMIT_ROWS }, () => ({ at: AT, cause: "tool", units: 1 }) as const);
        await expectRefused(store.commit(creation("s", { energy })), "commit_invalid");
        await store.commit(creation("s", { energy: energy.slice(1) }));
        expect(await store.readEnergy({ sessionId: "s" })).toEqual({
          units: MAX_COMMIT_ROWS - 1,
          rows: MAX_COMMIT_ROWS - 1,
        });
        const data = { text: "x".repeat(MAX_COMMIT_CHARS - JSON.stringify([event({ text: "" })]).length) };
        await expectRefused(
          store.commit({ sessionId: "s", owner: OWNER, events: [event(data), event()] }),
          "commit_invalid",
        );
        await store.commit({ sessionId: "s", owner: OWNER, events: [event(data)] });
        expect((await store.readEvents({ afterSeq: 0, limit: 1 }))[0]?.data).toEqual(data);
        const position = "x".repeat(MAX_KEY_CHARS);
        await store.commit({ sessionId: "s", owner: OWNER, journal: [whole(position, { key: "k" })] });
        expect((await store.readJournalRow("s", position))?.position).toBe(position);
      },
    );

    it("is refused, to be retried, when too many of one turn wait already", { timeout: 30_000 }, async () => {
      const { store } = await open();
      const commit = { sessionId: "", owner: OWNER, cursor: { name: "r", seq: 1 } };
      const waiting = Array.from({ length: MAX_QUEUED_COMMITS }, () => store.commit(commit));
      await expectRefused(store.commit(commit), "store_unavailable", true);
      await Promise.all(waiting);
      await store.commit(commit);
    });
  });

  describe("closing", () => {
    it("writes what waits and refuses what comes later", async () => {
      const { store, reopen } = await open();
      const made = store.commit(creation("s"));
      await store.close();
      expect(await made).toEqual({ version: 1, lastSeq: 0 });
      await expectRefused(store.commit(creation("t")), "store_closed");
      await expectRefused(store.readSession("s"), "store_closed");
      await expectRefused(store.lastEventSeq(), "store_closed");
      await store.close();
      const kept = await reopen?.();
      expect(kept === undefined ? 1 : (await kept.readSession("s"))?.version).toBe(1);
    });
  });
}
