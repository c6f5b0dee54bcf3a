import { describe, expect, it } from "vitest";
import { MAX_PAGE_ROWS } from "../../src/ports/state-store.ts";
import type { OpenStore } from "./opened-store.ts";
import { AT, creation, event, finish, start, update, whole } from "./samples.ts";

export function journalRules(open: OpenStore): void {
  describe("the journal", () => {
    it("reads rows as they were written, with and without a result", async () => {
      const { store } = await open();
      await store.commit(
        creation("s", { journal: [start("a", { stepId: "greet" }), whole("b", { effects: "pure" })] }),
      );
      expect(await store.readJournalRow("s", "a")).toEqual({
        position: "a",
        scope: "",
        stepId: "greet",
        toolId: "demo::greet",
        effects: "once",
        key: "key-a",
        argsHash: "00",
        request: { who: "a" },
        startedAt: AT,
        state: "started",
        energyUnits: 0,
      });
      const failure = { error: { code: "tool_failed", message: "no", retryable: false } };
      await store.commit(
        update("s", 1, { journal: [finish("a", { state: "failed", result: failure, at: "later", energyUnits: 2.5 })] }),
      );
      expect(await store.readJournalRow("s", "a")).toMatchObject({
        state: "failed",
        result: failure,
        finishedAt: "later",
        energyUnits: 2.5,
      });
      expect(await store.readJournalRow("s", "b")).toMatchObject({
        state: "finished",
        effects: "pure",
        startedAt: AT,
        finishedAt: AT,
      });
      expect(await store.readJournalRow("s", "c")).toBeUndefined();
      expect(await store.readJournalRow("t", "a")).toBeUndefined();
    });

    it("answers ranges, steps, offsets and limits, newest or oldest first", async () => {
      const { store } = await open();
      const positions = ["1a", "1b1", "1b2", "1b3", "1c", "2a", "2b"];
      const step = (n: number) => (n % 2 === 0 ? { stepId: "even" } : {});
      await store.commit(
        creation("s", {
          journal: positions.toReversed().map((position) => whole(position, step(positions.indexOf(position)))),
        }),
      );
      await store.commit(update("s", 1, { journal: [start("2c", { stepId: "even" })] }));
      const read = async (query: object) =>
        (await store.readJournal({ sessionId: "s", order: "oldest", limit: 100, ...query })).map(
          ({ position }) => position,
        );
      expect(await read({})).toEqual([...positions, "2c"]);
      expect(await read({ order: "newest", settledOnly: true })).toEqual(positions.toReversed());
      expect(await read({ order: "newest", limit: 2, offset: 1 })).toEqual(["2b", "2a"]);
      expect(await read({ ranges: [{ from: "1b", to: "1c" }] })).toEqual(["1b1", "1b2", "1b3"]);
      expect(await read({ ranges: [] })).toEqual([]);
      const ranges = [
        { from: "1a", to: "1b2" },
        { from: "1b3", to: "1b4" },
        { from: "3", to: "4" },
        { from: "2a", to: "2d" },
      ];
      ranges.sort((a, b) => (a.from < b.from ? -1 : 1));
      const inRanges = ["1a", "1b1", "1b3", "2a", "2b", "2c"];
      for (let offset = 0; offset <= 7; offset += 1) {
        for (const limit of [1, 2, 3, 9]) {
          expect(await read({ ranges, offset, limit })).toEqual(inRanges.slice(offset, offset + limit));
          expect(await read({ ranges, offset, limit, order: "newest" })).toEqual(
            inRanges.toReversed().slice(offset, offset + limit),
          );
        }
      }
      expect(await read({ stepId: "even" })).toEqual(["1a", "1b2", "1c", "2b", "2c"]);
      expect(await read({ stepId: "even", settledOnly: true, order: "newest", offset: 1, limit: 2 })).toEqual([
        "1c",
        "1b2",
      ]);
      expect(await read({ stepId: "even", ranges })).toEqual(["1a", "2b", "2c"]);
      expect(await read({ stepId: "odd" })).toEqual([]);
      expect(await read({ sessionId: "t" })).toEqual([]);
    });

    it("answers with no more rows than a page has", async () => {
      const { store } = await open();
      const journal = Array.from({ length: MAX_PAGE_ROWS + 1 }, (_, n) => whole(String(n).padStart(6, "0")));
      await store.commit(creation("s", { journal, events: journal.map(() => event()) }));
      expect(await store.readJournal({ sessionId: "s", order: "oldest", limit: MAX_PAGE_ROWS + 1 })).toHaveLength(
        MAX_PAGE_ROWS,
      );
      expect(await store.readEvents({ afterSeq: 0, limit: MAX_PAGE_ROWS + 1 })).toHaveLength(MAX_PAGE_ROWS);
      expect(await store.readEvents({ afterSeq: 1, sessionId: "s", limit: MAX_PAGE_ROWS })).toHaveLength(MAX_PAGE_ROWS);
    });
  });
}
