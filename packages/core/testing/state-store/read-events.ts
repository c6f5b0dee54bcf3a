import { describe, expect, it } from "vitest";
import type { OpenStore } from "./opened-store.ts";
import { creation, event, OWNER, update } from "./samples.ts";

export function eventRules(open: OpenStore): void {
  describe("events", () => {
    it("are read after a number, by owner and by session", async () => {
      const { store } = await open();
      await store.commit(creation("s", { events: [event({ n: 1 })] }));
      await store.commit(creation("t", { owner: "bob", events: [event({ n: 2 })] }));
      await store.commit(update("s", 1, { events: [event({ n: 3 }), event({ n: 4 })] }));
      const read = async (query: object) =>
        (await store.readEvents({ afterSeq: 0, limit: 10, ...query })).map(({ data }) => data["n"]);
      expect(await read({})).toEqual([1, 2, 3, 4]);
      expect(await read({ afterSeq: 2, limit: 1 })).toEqual([3]);
      expect(await read({ owner: "bob" })).toEqual([2]);
      expect(await read({ sessionId: "s" })).toEqual([1, 3, 4]);
      expect(await read({ sessionId: "s", afterSeq: 1, limit: 1 })).toEqual([3]);
      expect(await read({ sessionId: "s", owner: "bob" })).toEqual([]);
      expect(await read({ sessionId: "nobody" })).toEqual([]);
      expect(await read({ afterSeq: 4 })).toEqual([]);
      expect(await store.readEvents({ afterSeq: 1, limit: 1 })).toEqual([
        { seq: 2, owner: "bob", sessionId: "t", ...event({ n: 2 }) },
      ]);
    });

    it("of one session are found among many of others", async () => {
      const { store } = await open();
      await store.commit(creation("s", { events: [event({ n: 0 })] }));
      await store.commit(creation("t", { events: Array.from({ length: 1_500 }, () => event()) }));
      await store.commit(update("s", 1, { events: [event({ n: 1 })] }));
      const read = async (afterSeq: number) =>
        (await store.readEvents({ afterSeq, sessionId: "s", limit: 10 })).map(({ seq }) => seq);
      expect(await read(0)).toEqual([1, 1_502]);
      expect(await read(1)).toEqual([1_502]);
      expect(await read(1_502)).toEqual([]);
    });

    it("reach watchers once, after their commit, in order; one that throws disturbs nobody", async () => {
      const { store } = await open();
      const heard: unknown[] = [];
      const stopThrowing = store.watch(() => {
        throw new Error("a broken watcher");
      });
      const stop = store.watch((news) => void heard.push(...news.flatMap(({ events }) => events())));
      await store.commit(creation("s", { events: [event({ n: 1 })] }));
      expect(heard).toEqual([{ seq: 1, owner: OWNER, sessionId: "s", ...event({ n: 1 }) }]);
      await Promise.allSettled([
        store.commit(update("s", 1, { events: [event({ n: 2 })] })),
        store.commit(update("s", 1, { events: [event({ n: 0 })] })),
        store.commit({ sessionId: "", owner: OWNER, events: [event({ n: 3 })] }),
      ]);
      stopThrowing();
      stop();
      await store.commit(update("s", 2, { events: [event({ n: 4 })] }));
      expect(heard.map((heardEvent) => (heardEvent as { data: { n: number } }).data.n)).toEqual([1, 2, 3]);
    });

    it("may be answered by a watcher with a commit", async () => {
      const { store } = await open();
      const answer = new Promise((resolve, reject) => {
        const stop = store.watch((news) => {
          stop();
          store
            .commit({ sessionId: "", owner: OWNER, cursor: { name: "reader", seq: news.at(-1)?.lastSeq ?? 0 } })
            .then(resolve, reject);
        });
      });
      await store.commit(creation("s", { events: [event(), event()] }));
      await answer;
      expect(await store.readCursor("reader")).toBe(2);
    });
  });
}
