import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { type LoopKeeping, type LoopSoFar, type LoopStore, RECENT_SCORES } from "../../src/ports/loop-store.ts";
import type { LoopState } from "../../src/schema/refinement.ts";

export type OpenedLoops = {
  readonly loops: LoopStore;
  /** Closes the store and opens what it left behind; absent when it leaves nothing. */
  readonly reopen?: () => Promise<LoopStore>;
};

/** What every LoopStore must do. `open` gives a fresh, empty one. */
export function loopStoreContract(name: string, open: (keeping: LoopKeeping) => Promise<OpenedLoops>): void {
  const opened: LoopStore[] = [];
  const fresh = async (keeping: Partial<LoopKeeping> = {}): Promise<OpenedLoops> => {
    const made = await open({ keepPerOwner: 10, ...keeping });
    opened.push(made.loops);
    return made;
  };

  describe(`the loop store contract: ${name}`, () => {
    afterEach(async () => {
      for (const loops of opened.splice(0)) await loops.close();
    });

    it("gives back what was added, to its owner alone (Q2)", async () => {
      const { loops } = await fresh();
      await loops.add("ada", loop("aaaaaaaa"));
      await loops.add("bob", loop("aaaaaaaa", { loop_type: "spec" }));
      expect(await loops.read({ owner: "ada", id: "aaaaaaaa" })).toEqual(loop("aaaaaaaa"));
      expect(await loops.read({ owner: "bob", id: "aaaaaaaa" })).toMatchObject({ loop_type: "spec" });
      expect(await loops.read({ owner: "eve", id: "aaaaaaaa" })).toBeUndefined();
      expect(await loops.change({ owner: "eve", id: "aaaaaaaa" }, scored(1))).toBeUndefined();
      expect(await loops.list("eve")).toEqual([]);
      expect(await loops.list("ada")).toHaveLength(1);
    });

    it("refuses an id that the owner has already, and keeps the loop that has it (Q4)", async () => {
      const { loops } = await fresh();
      await loops.add("ada", loop("aaaaaaaa"));
      const again = loops.add("ada", loop("aaaaaaaa", { loop_type: "spec" }));
      await expect(again).rejects.toMatchObject({ code: "loop_already_exists", details: { loop_id: "aaaaaaaa" } });
      expect(await loops.list("ada")).toMatchObject([{ loop_type: "plan" }]);
    });

    it("keeps as many loops of an owner as its bound says, and drops the oldest of that owner alone (Q1, Q2)", async () => {
      const { loops } = await fresh({ keepPerOwner: 3 });
      await loops.add("bob", loop("bbbbbbbb"));
      for (const id of ["a0000001", "a0000002", "a0000003"]) await loops.add("ada", loop(id));
      await loops.change({ owner: "ada", id: "a0000001" }, scored(99));
      expect(await idsOf(loops, "ada")).toEqual(["a0000001", "a0000002", "a0000003"]);
      await loops.add("ada", loop("a0000004"));
      expect(await idsOf(loops, "ada")).toEqual(["a0000002", "a0000003", "a0000004"]);
      expect(await loops.read({ owner: "ada", id: "a0000001" })).toBeUndefined();
      expect(await idsOf(loops, "bob")).toEqual(["bbbbbbbb"]);
    });

    it("appends scores without a bound, and decides from the last ones", async () => {
      const { loops } = await fresh();
      await loops.add("ada", loop("aaaaaaaa"));
      const seen: LoopSoFar[] = [];
      const scores = Array.from({ length: 300 }, (_, at) => at % 101);
      for (const score of scores) {
        const changed = await loops.change({ owner: "ada", id: "aaaaaaaa" }, (soFar) => {
          seen.push(soFar);
          return { score, status: "refine", iteration: soFar.iteration + 1 };
        });
        expect(changed).toMatchObject({ current_score: score, status: "refine", iteration: seen.length });
      }
      expect(seen.map(({ recent_scores }) => recent_scores)).toEqual(
        scores.map((_, at) => scores.slice(Math.max(0, at - RECENT_SCORES), at)),
      );
      expect(await loops.read({ owner: "ada", id: "aaaaaaaa" })).toMatchObject({
        score_history: scores,
        current_score: scores.at(-1),
        iteration: scores.length,
      });
    });

    it("loses no score when many come at once (Q3)", async () => {
      const { loops } = await fresh();
      await loops.add("ada", loop("aaaaaaaa"));
      const ref = { owner: "ada", id: "aaaaaaaa" };
      await Promise.all(Array.from({ length: 50 }, (_, score) => loops.change(ref, scored(score))));
      const { score_history = [], iteration } = (await loops.read(ref)) ?? {};
      expect(score_history.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, score) => score));
      expect(iteration).toBe(50);
    });

    it("changes nothing when the decision throws (Q4)", async () => {
      const { loops } = await fresh();
      await loops.add("ada", loop("aaaaaaaa"));
      const ref = { owner: "ada", id: "aaaaaaaa" };
      const refused = loops.change(ref, () => {
        throw new RangeError("no decision");
      });
      await expect(refused).rejects.toThrow("no decision");
      expect(await loops.read(ref)).toEqual(loop("aaaaaaaa"));
      expect(await loops.change(ref, scored(7))).toMatchObject({ current_score: 7 });
    });

    it("remembers as many owners as its bound says, and forgets the one that was silent longest (Q5)", async () => {
      const { loops } = await fresh({ maxOwners: 3 });
      for (const owner of ["ada", "bob", "cleo"]) await loops.add(owner, loop("aaaaaaaa"));
      await loops.change({ owner: "ada", id: "aaaaaaaa" }, scored(7));
      await loops.add("dan", loop("aaaaaaaa"));
      expect(await loops.list("bob")).toEqual([]);
      expect(await loops.read({ owner: "ada", id: "aaaaaaaa" })).toMatchObject({ score_history: [7] });
      for (const owner of ["cleo", "dan"]) expect(await loops.list(owner)).toHaveLength(1);
    });

    it("shares no memory with its callers", async () => {
      const { loops } = await fresh();
      const mine = loop("aaaaaaaa", { score_history: [1] });
      await loops.add("ada", mine);
      mine.score_history.push(2);
      const read = await loops.read({ owner: "ada", id: "aaaaaaaa" });
      read?.score_history.push(3);
      expect((await loops.read({ owner: "ada", id: "aaaaaaaa" }))?.score_history).toEqual([1]);
    });

    it("takes any names", async () => {
      const { loops } = await fresh({ keepPerOwner: 1_000 });
      const Name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 });
      await fc.assert(
        fc.asyncProperty(Name, async (owner) => {
          const before = await loops.list(owner);
          const id = String(before.length).padStart(8, "0");
          await loops.add(owner, loop(id));
          expect(await loops.read({ owner, id })).toEqual(loop(id));
        }),
        { numRuns: 50 },
      );
    });

    it("refuses everything once it is closed, and keeps what it had if it can", async () => {
      const { loops, reopen } = await fresh();
      const ref = { owner: "ada", id: "aaaaaaaa" };
      await loops.add("ada", loop("aaaaaaaa"));
      await loops.change(ref, scored(7));
      await loops.close();
      await loops.close();
      const refusals = [
        loops.add("ada", loop("bbbbbbbb")),
        loops.read(ref),
        loops.list("ada"),
        loops.change(ref, scored(8)),
      ];
      for (const refused of refusals) await expect(refused).rejects.toMatchObject({ code: "store_closed" });
      if (reopen === undefined) return;
      const again = await reopen();
      opened.push(again);
      expect(await again.read(ref)).toMatchObject({ score_history: [7], iteration: 1 });
    });
  });
}

function loop(id: string, given: Partial<LoopState> = {}): LoopState {
  return {
    id,
    loop_type: "plan",
    status: "initialized",
    current_score: null,
    score_history: [],
    iteration: 0,
    created_at: "2026-01-15T10:30:00.000Z",
    ...given,
  };
}

function scored(score: number) {
  return ({ iteration }: LoopSoFar) => ({ score, status: "refine", iteration: iteration + 1 }) as const;
}

async function idsOf(loops: LoopStore, owner: string): Promise<string[]> {
  return (await loops.list(owner)).map(({ id }) => id);
}
