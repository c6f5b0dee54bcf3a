import { describe, expect, it } from "vitest";
import type { Engine } from "../../src/ports/engine.ts";
import { callStep, planOf, type OpenWorld } from "./engine-world.ts";

const owner = "ann";
const item = { jsonPath: "$.context.item" };
const COMPARED = planOf("compared", [
  callStep("first", "probe::echo", { value: "same" }, "each"),
  {
    id: "each",
    type: "loop_over_items",
    collectionPath: { jsonPath: "$.promptInput.items" },
    itemAlias: "item",
    loopPlan: [callStep("inner", "probe::echo", { value: item })],
    nextStepId: "say",
  },
  { id: "say", type: "final_response", message: { jsonPath: "$.context['probe::echo_result']" } },
]);

export function diffRules(open: OpenWorld): void {
  describe("comparing runs", () => {
    it("lays two runs beside each other, loop turns by their index", async () => {
      const { engine } = await open();
      const a = await ran(engine, [1, 2]);
      const b = await ran(engine, [1, 3, 4]);
      const diff = await engine.diff({ owner, sessionId: a, withSessionId: b });
      expect(diff).toMatchObject({
        a: { sessionId: a, status: "completed", planId: "compared", calls: 3 },
        b: { sessionId: b, calls: 4 },
        same: 2,
        changed: 1,
        onlyA: 0,
        onlyB: 1,
        isCut: false,
      });
      expect(diff.steps.map(({ path, change, differs }) => [path, change, differs])).toEqual([
        ["first", "same", []],
        ["each[0]/inner", "same", []],
        ["each[1]/inner", "changed", ["arguments", "output"]],
        ["each[2]/inner", "only_b", []],
      ]);
      expect(diff.steps[2]).toMatchObject({
        a: { toolId: "probe::echo", state: "finished", arguments: { value: 2 }, output: 2 },
        b: { arguments: { value: 3 }, output: 3, durationMs: expect.any(Number), energyUnits: expect.any(Number) },
      });
      expect(diff.context).toEqual([
        { key: "finalResponse", change: "changed", a: 2, b: 4 },
        { key: "probe::echo_result", change: "changed", a: 2, b: 4 },
      ]);
    });

    it("finds a run the same as itself, and a fork the same as its source", async () => {
      const { engine } = await open();
      const sessionId = await ran(engine, [1]);
      const fork = await engine.fork({ owner, sessionId, fromStep: "each" });
      await engine.settled({ owner, sessionId: fork.sessionId });
      for (const withSessionId of [sessionId, fork.sessionId]) {
        const diff = await engine.diff({ owner, sessionId, withSessionId });
        expect(diff).toMatchObject({ same: 2, changed: 0, onlyA: 0, onlyB: 0, context: [] });
      }
      const diff = await engine.diff({ owner, sessionId, withSessionId: fork.sessionId });
      expect(diff.b.forkedFrom).toEqual({ sessionId, stepId: "each" });
    });

    it("compares what failed, and sessions that ran nothing", async () => {
      const { engine } = await open();
      const failed = (await engine.createSession({ owner })).sessionId;
      await engine.executePlan({ owner, sessionId: failed, plan: "fail" });
      await engine.settled({ owner, sessionId: failed });
      const fine = (await engine.createSession({ owner, context: { n: 1 } })).sessionId;
      const plan = planOf("fail", [callStep("call", "probe::fail", { value: 1 })]);
      await engine.executePlan({ owner, sessionId: fine, plan });
      await engine.settled({ owner, sessionId: fine });
      const diff = await engine.diff({ owner, sessionId: failed, withSessionId: fine });
      expect(diff.steps).toMatchObject([
        {
          path: "call",
          change: "changed",
          differs: ["state", "arguments", "output", "error"],
          a: { state: "failed", error: { code: "tool_failed" } },
          b: { state: "finished", output: 1 },
        },
      ]);
      const empty = (await engine.createSession({ owner })).sessionId;
      expect(await engine.diff({ owner, sessionId: empty, withSessionId: fine })).toMatchObject({
        a: { calls: 0, durationMs: 0 },
        onlyB: 1,
        context: [
          { key: "n", change: "only_b", b: 1 },
          { key: "probe::fail_result", change: "only_b", b: 1 },
        ],
      });
    });

    it("knows only one's own sessions, on both sides", async () => {
      const { engine } = await open();
      const mine = await ran(engine, []);
      const theirs = (await engine.createSession({ owner: "bob" })).sessionId;
      for (const [sessionId, withSessionId] of [
        [mine, theirs],
        [theirs, mine],
        [mine, "none"],
      ] as const) {
        await expect(engine.diff({ owner, sessionId, withSessionId })).rejects.toMatchObject({
          code: "session_not_found",
        });
      }
    });
  });
}

async function ran(engine: Engine, items: readonly number[]): Promise<string> {
  const { sessionId } = await engine.createSession({ owner });
  await engine.executePlan({ owner, sessionId, plan: COMPARED, input: { items } });
  await engine.settled({ owner, sessionId });
  return sessionId;
}
