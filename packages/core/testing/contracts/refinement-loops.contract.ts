import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RefinementLoops } from "../../src/ports/refinement-loops.ts";
import { LoopState } from "../../src/schema/refinement.ts";

export type OpenedRefinement = { readonly loops: RefinementLoops; readonly close: () => Promise<void> };

const owner = "ada";

/** What every form of RefinementLoops must do. `open` gives one with the default bounds and no loop. */
export function refinementLoopsContract(name: string, open: () => Promise<OpenedRefinement>): void {
  let loops: RefinementLoops;
  let close: () => Promise<void>;

  describe(`the refinement loops contract: ${name}`, () => {
    beforeEach(async () => {
      ({ loops, close } = await open());
    });
    afterEach(() => close());

    it("go the way of the spec's integration test", async () => {
      const loop = await loops.initialize({ owner, loop_type: "spec" });
      expect(loop).toMatchObject({ status: "initialized", iteration: 0 });
      expect(loop.id).toMatch(/^[0-9a-f]{8}$/);
      expect(loop).not.toHaveProperty("score");
      const low = await loops.decide({ owner, loop_id: loop.id, current_score: 70 });
      expect(low).toMatchObject({ id: loop.id, status: "refine", score: 70, iteration: 1 });
      const high = await loops.decide({ owner, loop_id: loop.id, current_score: 90 });
      expect(high).toMatchObject({
        id: loop.id,
        status: "completed",
        score: 90,
        message: "Score 90 reaches 85: done.",
      });
    });

    it("run side by side, each for itself", async () => {
      const plan = await loops.initialize({ owner, loop_type: "plan" });
      const spec = await loops.initialize({ owner, loop_type: "spec" });
      const [one, two] = await Promise.all([
        loops.decide({ owner, loop_id: plan.id, current_score: 85 }),
        loops.decide({ owner, loop_id: spec.id, current_score: 72 }),
      ]);
      expect([one.status, two.status]).toEqual(["completed", "refine"]);
      expect(await loops.list({ owner })).toMatchObject([
        { id: plan.id, status: "completed" },
        { id: spec.id, status: "refine" },
      ]);
    });

    it("show their whole state", async () => {
      const { id } = await loops.initialize({ owner, loop_type: "plan" });
      for (const current_score of [45, 62, 72]) await loops.decide({ owner, loop_id: id, current_score });
      const state = await loops.read({ owner, loop_id: id });
      expect(LoopState.parse(state)).toEqual(state);
      expect(state).toMatchObject({
        id,
        loop_type: "plan",
        status: "refine",
        current_score: 72,
        score_history: [45, 62, 72],
        iteration: 3,
      });
      expect(await loops.status({ owner, loop_id: id })).toMatchObject({
        id,
        status: "refine",
        score: 72,
        iteration: 3,
      });
    });

    it("that are finished, or wait for the user, are decided anew with the next score", async () => {
      const { id } = await loops.initialize({ owner, loop_type: "plan" });
      const next = async (current_score: number) => (await loops.decide({ owner, loop_id: id, current_score })).status;
      expect(await next(90)).toBe("completed");
      expect(await next(60)).toBe("refine");
      expect(await next(61)).toBe("user_input");
      expect(await next(75)).toBe("refine");
      expect(await next(86)).toBe("completed");
    });

    it.each([
      ["another's", "theirs"],
      ["an unknown", "zzzzzzzz"],
      ["a short", "a"],
      ["an odd", "../../x"],
      ["a very long", "a".repeat(10_000)],
    ])("answer loop_not_found for %s id", async (_, given) => {
      const theirs = await loops.initialize({ owner: "bob", loop_type: "plan" });
      const unknown = given === "theirs" ? theirs.id : given;
      const code = "loop_not_found";
      await expect(loops.decide({ owner, loop_id: unknown, current_score: 1 })).rejects.toMatchObject({ code });
      await expect(loops.status({ owner, loop_id: unknown })).rejects.toMatchObject({ code });
      await expect(loops.read({ owner, loop_id: unknown })).rejects.toMatchObject({ code });
      expect(await loops.status({ owner: "bob", loop_id: theirs.id })).toMatchObject({ status: "initialized" });
    });

    it.each([-1, 101, 72.5, "72", true, null, undefined, Number.NaN, [72], {}])(
      "refuse the score %j, and change nothing",
      async (current_score) => {
        const { id } = await loops.initialize({ owner, loop_type: "plan" });
        await expect(loops.decide({ owner, loop_id: id, current_score })).rejects.toMatchObject({
          code: "loop_validation",
          details: { field: "current_score" },
        });
        expect(await loops.read({ owner, loop_id: id })).toMatchObject({ score_history: [], status: "initialized" });
      },
    );

    it.each([0, 100])("take the score %i", async (current_score) => {
      const { id } = await loops.initialize({ owner, loop_type: "plan" });
      expect(await loops.decide({ owner, loop_id: id, current_score })).toMatchObject({ score: current_score });
    });

    it("refuse a type that there is not, and say which was meant", async () => {
      await expect(loops.initialize({ owner, loop_type: "build-plan" })).rejects.toMatchObject({
        code: "loop_validation",
        details: { field: "loop_type" },
        message: expect.stringContaining('Did you mean "build_plan"?') as string,
      });
      for (const loop_type of [undefined, null, 7, "", {}, "PLANNING ".repeat(1_000)]) {
        await expect(loops.initialize({ owner, loop_type })).rejects.toMatchObject({ code: "loop_validation" });
      }
      for (const loop_id of [undefined, null, 7, ""]) {
        await expect(loops.status({ owner, loop_id })).rejects.toMatchObject({ details: { field: "loop_id" } });
      }
      expect(await loops.list({ owner })).toEqual([]);
    });
  });
}
