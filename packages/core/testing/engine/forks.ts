import { describe, expect, it } from "vitest";
import type { Engine } from "../../src/ports/engine.ts";
import type { Json } from "../../src/schema/values/json.ts";
import type { AgenticPlan, PlanStep } from "../../src/schema/plan.ts";
import { callStep, planOf, type OpenWorld } from "./engine-world.ts";

const owner = "ann";
const from = (jsonPath: string): Json => ({ jsonPath });
/** Not from this plan: from what the session had before. */
const found = (key: string): Json => ({ jsonPath: `$.context.${key}`, default: "nothing" });
const echo = (id: string, value: Json, next?: string, saveAs = "note"): PlanStep =>
  ({ ...callStep(id, "probe::echo", { value }, next), saveAs }) as PlanStep;
const asks = { id: "ask", type: "human_in_the_loop", message: "Which?", saveAs: "answer" } as const;
const says = (jsonPath: string): PlanStep => ({ id: "say", type: "final_response", message: { jsonPath } });

/** Writes `note` at every step, so that what a fork sees tells where it began. */
const STORY = planOf(
  "story",
  [
    echo("first", from("$.promptInput.text"), "ask"),
    { ...asks, nextStepIdOnInput: "each" },
    {
      id: "each",
      type: "loop_over_items",
      collectionPath: { jsonPath: "$.promptInput.items" },
      itemAlias: "item",
      loopPlan: [echo("inner", from("$.context.item"))],
      nextStepId: "last",
    },
    echo("last", from("$.context.note"), "say", "seen"),
    says("$.context.seen"),
  ],
  {
    type: "object",
    properties: { text: { type: "string" }, items: { type: "array", items: { type: "integer" }, default: [1, 2] } },
    required: ["text"],
  },
);

export function forkRules(open: OpenWorld): void {
  describe("forks", () => {
    it("repeats no call of effects once unless that is asked for", async () => {
      const { engine } = await open();
      const plan = planOf("pays", [
        callStep("look", "probe::echo", {}, "pay"),
        callStep("pay", "probe::pay", {}, "tell"),
        callStep("tell", "probe::echo"),
      ]);
      const { sessionId } = await engine.createSession({ owner });
      await engine.executePlan({ owner, sessionId, plan });
      await engine.settled({ owner, sessionId });
      for (const fromStep of ["look", "pay"])
        await expect(engine.fork({ owner, sessionId, fromStep })).rejects.toMatchObject({
          code: "once_repeated",
          details: { stepId: "pay", toolId: "probe::pay", idempotencyKey: expect.stringContaining(sessionId) },
        });
      for (const fork of [{ fromStep: "tell" }, { fromStep: "look", repeatOnce: true }]) {
        const forked = await engine.fork({ owner, sessionId, ...fork });
        expect(await engine.settled({ owner, sessionId: forked.sessionId })).toMatchObject({ status: "completed" });
      }
    });

    it("goes on from a step with context and history as they were then, and leaves the source as it is", async () => {
      const { engine } = await open();
      const sessionId = await told(engine);
      const source = await engine.readSession({ owner, sessionId });
      expect(source.context).toMatchObject({ note: [1, 2], finalResponse: [1, 2], answer: "b" });

      const fork = await engine.fork({ owner, sessionId, fromStep: "last" });
      expect(fork).toMatchObject({ currentPlanId: "story", forkedFrom: { sessionId, stepId: "last" } });
      expect(fork.sessionId).not.toBe(sessionId);
      expect(await engine.settled({ owner, sessionId: fork.sessionId })).toMatchObject({ status: "completed" });
      const forked = await engine.readSession({ owner, sessionId: fork.sessionId });
      expect(forked.context).toEqual(source.context);
      expect(forked.core.forkedFrom).toEqual({ sessionId, stepId: "last" });
      expect(forked.history.map(({ planStepId, result }) => [planStepId, result])).toEqual(
        source.history.map(({ planStepId, result }) => [planStepId, result]),
      );
      expect(forked.history.slice(0, -1)).toEqual(source.history.slice(0, -1));
      expect(await engine.readSession({ owner, sessionId })).toEqual(source);
    });

    it("keeps a person's answer that came before the step, and asks again for one that comes after", async () => {
      const { engine } = await open();
      const sessionId = await told(engine);
      const { sessionId: after } = await engine.fork({ owner, sessionId, fromStep: "each" });
      await engine.settled({ owner, sessionId: after });
      expect((await engine.readSession({ owner, sessionId: after })).context).toMatchObject({
        answer: "b",
        human_input: "b",
      });
      const { sessionId: before } = await engine.fork({ owner, sessionId, fromStep: "ask" });
      expect(await engine.settled({ owner, sessionId: before })).toMatchObject({ status: "paused_on_human" });
      const { context, history } = await engine.readSession({ owner, sessionId: before });
      expect(context).toEqual({ note: "a", "probe::echo_result": "a" });
      expect(history).toHaveLength(1);
      await engine.resume({ owner, sessionId: before, input: "c" });
      await engine.settled({ owner, sessionId: before });
      expect((await engine.readSession({ owner, sessionId: before })).context).toMatchObject({ answer: "c" });
    });

    it("takes another input, if it fits the plan's parameters", async () => {
      const { engine } = await open();
      const sessionId = await told(engine);
      const sessions = async () => (await engine.listSessions({ owner, limit: 100 })).items.length;
      const before = await sessions();
      const refused = engine.fork({ owner, sessionId, fromStep: "each", input: { text: 1, items: ["x"] } });
      await expect(refused).rejects.toMatchObject({
        code: "plan_invalid",
        details: {
          problems: [
            expect.objectContaining({ path: "$.input.items[0]" }),
            expect.objectContaining({ path: "$.input.text" }),
          ],
        },
      });
      await expect(engine.fork({ owner, sessionId, fromStep: "each", input: null })).rejects.toMatchObject({
        code: "plan_invalid",
      });
      expect(await sessions()).toBe(before);
      const fork = await engine.fork({ owner, sessionId, fromStep: "each", input: { text: "z", items: [7] } });
      await engine.settled({ owner, sessionId: fork.sessionId });
      const { context } = await engine.readSession({ owner, sessionId: fork.sessionId });
      // What came before the step was done with the old input, and stays done.
      expect(context).toMatchObject({ finalResponse: [7], answer: "b" });
    });

    it("can be forked again, and runs other plans", async () => {
      const { engine } = await open();
      const sessionId = await told(engine);
      const once = await engine.fork({ owner, sessionId, fromStep: "last" });
      await engine.settled({ owner, sessionId: once.sessionId });
      const twice = await engine.fork({ owner, sessionId: once.sessionId, fromStep: "ask" });
      expect(await engine.settled({ owner, sessionId: twice.sessionId })).toMatchObject({
        status: "paused_on_human",
        forkedFrom: { sessionId: once.sessionId, stepId: "ask" },
      });
      await engine.executePlan({ owner, sessionId: once.sessionId, plan: "echo", input: { text: "x" } });
      expect(await engine.settled({ owner, sessionId: once.sessionId })).toMatchObject({
        status: "completed",
        run: 2,
        forkedFrom: { sessionId, stepId: "last" },
      });
    });

    it("finds the context that a plan was given, though the plan wrote over it", async () => {
      const { engine } = await open();
      const { sessionId } = await engine.createSession({ owner, context: { note: "given", kept: "x".repeat(70_000) } });
      await run(engine, sessionId, planOf("over", [echo("one", found("note"), "two"), echo("two", 2)]));
      const fork = await engine.fork({ owner, sessionId, fromStep: "one" });
      await engine.settled({ owner, sessionId: fork.sessionId });
      const { context, history } = await engine.readSession({ owner, sessionId: fork.sessionId });
      expect(history[0]?.result).toEqual({ output: "given" });
      const kept = (await engine.readSession({ owner, sessionId })).context["kept"];
      expect(kept).toMatchObject({ $blob: expect.any(String), bytes: 70_002 });
      expect(context["kept"]).toEqual(kept);
    });

    it("forks the latest of several plans, with the history of all", async () => {
      const { engine } = await open();
      const { sessionId } = await engine.createSession({ owner });
      await run(engine, sessionId, planOf("before", [echo("old", "old")]));
      await run(engine, sessionId, planOf("after", [echo("new", found("note"), "end"), echo("end", "end")]));
      await expect(engine.fork({ owner, sessionId, fromStep: "old" })).rejects.toMatchObject({
        code: "step_not_found",
      });
      const { sessionId: fork } = await engine.fork({ owner, sessionId, fromStep: "new" });
      await engine.settled({ owner, sessionId: fork });
      const { history } = await engine.readSession({ owner, sessionId: fork });
      expect(history.map(({ result }) => result)).toEqual([{ output: "old" }, { output: "old" }, { output: "end" }]);
    });

    it("begins with the last visit of a step that came round again", async () => {
      const { engine } = await open();
      const { sessionId } = await engine.createSession({ owner, context: { note: 0 } });
      const again = { left: from("$.context.answer"), operator: "equals", right: "again" } as const;
      const round = planOf("round", [
        echo("count", from("$.context.answer"), "more"),
        { id: "more", type: "conditional_branch", condition: again, onTrue: { nextStepId: "ask" }, onFalse: {} },
        { ...asks, nextStepIdOnInput: "count" },
      ]);
      await engine.executePlan({ owner, sessionId, plan: { ...round, startStepId: "ask" } });
      for (const input of ["again", "again", "enough"]) {
        await engine.settled({ owner, sessionId });
        await engine.resume({ owner, sessionId, input });
      }
      expect(await engine.settled({ owner, sessionId })).toMatchObject({ status: "completed" });
      const { sessionId: fork } = await engine.fork({ owner, sessionId, fromStep: "ask" });
      expect(await engine.settled({ owner, sessionId: fork })).toMatchObject({ status: "paused_on_human" });
      const { context, history } = await engine.readSession({ owner, sessionId: fork });
      expect(context).toMatchObject({ answer: "again", note: "again" });
      expect(history).toHaveLength(2);
    });

    it("forks a session that runs, one that failed and one that was cancelled", async () => {
      const { engine, world } = await open();
      const plan = planOf("long", [
        echo("one", 1, "hold"),
        callStep("hold", "probe::hold", {}, "three"),
        echo("three", 3),
      ]);
      const { sessionId } = await engine.createSession({ owner });
      await engine.executePlan({ owner, sessionId, plan });
      const stepNow = async () => (await engine.settled({ owner, sessionId, timeoutMs: 0 })).currentStepId;
      while ((await stepNow()) !== "hold") await new Promise((resolve) => setTimeout(resolve, 10));
      const early = await engine.fork({ owner, sessionId, fromStep: "one" });
      const here = await engine.fork({ owner, sessionId, fromStep: "hold" });
      const notReached = { code: "step_not_reached" };
      await expect(engine.fork({ owner, sessionId, fromStep: "three" })).rejects.toMatchObject(notReached);
      await engine.cancel({ owner, sessionId });
      await expect(engine.fork({ owner, sessionId, fromStep: "three" })).rejects.toMatchObject(notReached);
      const ended = await engine.fork({ owner, sessionId, fromStep: "hold" });
      world.release();
      for (const fork of [early, here, ended]) {
        expect(await engine.settled({ owner, sessionId: fork.sessionId })).toMatchObject({ status: "completed" });
        const { history } = await engine.readSession({ owner, sessionId: fork.sessionId });
        expect(history.map(({ planStepId }) => planStepId)).toEqual(["one", "hold", "three"]);
      }

      const failing = (await engine.createSession({ owner })).sessionId;
      await run(engine, failing, planOf("fails", [callStep("no", "probe::fail", {}, "yes"), echo("yes", "yes")]));
      await engine.resume({ owner, sessionId: failing, input: { action: "abort" } });
      expect(await engine.settled({ owner, sessionId: failing })).toMatchObject({ status: "failed" });
      await expect(engine.fork({ owner, sessionId: failing, fromStep: "yes" })).rejects.toMatchObject(notReached);
      const retried = await engine.fork({ owner, sessionId: failing, fromStep: "no" });
      expect(await engine.settled({ owner, sessionId: retried.sessionId })).toMatchObject({
        status: "paused_on_error",
      });
      await engine.resume({ owner, sessionId: retried.sessionId, input: { action: "skip" } });
      expect(await engine.settled({ owner, sessionId: retried.sessionId })).toMatchObject({ status: "completed" });
    });

    it("says why a step cannot be forked from", async () => {
      const { engine } = await open();
      const sessionId = await told(engine);
      const refusal = (fromStep: string, of = sessionId) => engine.fork({ owner, sessionId: of, fromStep });
      await expect(refusal("inner")).rejects.toMatchObject({ code: "step_nested", message: /first, ask, each/ });
      await expect(refusal("lsat")).rejects.toMatchObject({ code: "step_not_found", message: /"last"/ });
      await expect(refusal("last", "none")).rejects.toMatchObject({ code: "session_not_found" });
      const empty = await engine.createSession({ owner });
      await expect(refusal("last", empty.sessionId)).rejects.toMatchObject({ code: "plan_missing" });
      await expect(engine.fork({ owner: "bob", sessionId, fromStep: "last" })).rejects.toMatchObject({
        code: "session_not_found",
      });
      const taken = { owner, sessionId, fromStep: "last", newSessionId: empty.sessionId };
      await expect(engine.fork(taken)).rejects.toMatchObject({ code: "session_exists" });
      expect((await engine.listSessions({ owner, limit: 10 })).items).toHaveLength(2);
    });
  });
}

async function run(engine: Engine, sessionId: string, plan: AgenticPlan): Promise<void> {
  await engine.executePlan({ owner, sessionId, plan });
  await engine.settled({ owner, sessionId });
}

/** A session that has run the story to its end. */
async function told(engine: Engine): Promise<string> {
  const { sessionId } = await engine.createSession({ owner });
  await engine.executePlan({ owner, sessionId, plan: STORY, input: { text: "a" } });
  await engine.settled({ owner, sessionId });
  await engine.resume({ owner, sessionId, input: "b" });
  await engine.settled({ owner, sessionId });
  return sessionId;
}
