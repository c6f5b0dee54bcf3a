import { describe, expect, it } from "vitest";
import type { ErgonError } from "../../src/errors/ergon-error.ts";
import type { AgenticPlan } from "../../src/schema/plan.ts";
import { callStep, type OpenWorld, planOf } from "./engine-world.ts";

const owner = "ann";

export function runningRules(open: OpenWorld): void {
  describe("running plans", () => {
    it("makes a session that waits for its first plan", async () => {
      const { engine } = await open();
      const core = await engine.createSession({
        owner,
        context: { a: [1, { b: null }] },
        mode: "analyst",
        energyBudget: 7,
      });
      expect(core).toMatchObject({ status: "paused", waiting: [], run: 0, mode: "analyst", energyBudget: 7 });
      expect(core.currentPlanId).toBeUndefined();
      const view = await engine.readSession({ owner, sessionId: core.sessionId });
      expect(view).toEqual({ core, context: { a: [1, { b: null }] }, history: [] });
    });

    it("takes the id that is wished for, once", async () => {
      const { engine } = await open();
      const core = await engine.createSession({ owner, sessionId: "mine", context: { n: 1 } });
      expect(core.sessionId).toBe("mine");
      const again = engine.createSession({ owner, sessionId: "mine", context: { n: 2 } });
      await expect(again).rejects.toMatchObject({ code: expect.stringMatching(/^session_(exists|conflict)$/) });
      expect((await engine.readSession({ owner, sessionId: "mine" })).context).toEqual({ n: 1 });
    });

    it("runs a plan by its id to its end", async () => {
      const { engine } = await open();
      const { sessionId } = await engine.createSession({ owner });
      const started = await engine.executePlan({ owner, sessionId, plan: "echo", input: { text: "hello ✓" } });
      expect(started).toMatchObject({ sessionId, currentPlanId: "echo", run: 1 });
      const settled = await engine.settled({ owner, sessionId });
      expect(settled).toMatchObject({ status: "completed", waiting: [] });
      const { core, context, history } = await engine.readSession({ owner, sessionId });
      expect(core).toEqual(settled);
      expect(context).toMatchObject({ finalResponse: "hello ✓", "probe::echo_result": "hello ✓" });
      expect(history).toMatchObject([
        { toolId: "probe::echo", planStepId: "call", request: { value: "hello ✓" }, result: { output: "hello ✓" } },
      ]);
    });

    it("makes the session together with its first plan where asked, and not for a plan that is refused", async () => {
      const { engine } = await open();
      const request = { owner, sessionId: "both", create: true };
      await expect(engine.executePlan({ ...request, plan: "none" })).rejects.toMatchObject({ code: "plan_not_found" });
      await expect(engine.readSession({ owner, sessionId: "both" })).rejects.toMatchObject({
        code: "session_not_found",
      });
      await engine.executePlan({ ...request, plan: "echo", input: { text: "x" } });
      expect(await engine.settled({ owner, sessionId: "both" })).toMatchObject({ status: "completed", run: 1 });
      await engine.executePlan({ ...request, plan: "echo", input: { text: "y" } });
      expect(await engine.settled({ owner, sessionId: "both" })).toMatchObject({ status: "completed", run: 2 });
      const foreign = engine.executePlan({ ...request, owner: "bob", plan: "hold" });
      await expect(foreign).rejects.toMatchObject({ code: "session_not_found" });
    });

    it("answers a start, an answer and a look once the session has settled, where it is told to wait", async () => {
      const { engine, world } = await open();
      const waiting = { waitMs: 30_000, signal: new AbortController().signal };
      const ask = planOf("ask", [{ id: "ask", type: "human_in_the_loop", message: "Go on?", inputSchema: true }]);
      const ref = { owner, sessionId: "waits", create: true };
      expect(await engine.executePlan({ ...ref, plan: ask, ...waiting })).toMatchObject({ status: "paused_on_human" });
      expect(await engine.resume({ ...ref, input: "yes", ...waiting })).toMatchObject({ status: "completed" });
      const held = { owner, sessionId: "held", create: true };
      await engine.executePlan({ ...held, plan: "hold" });
      const soon = { ...held, waitMs: 20, historyLimit: 1 };
      expect((await engine.readSession(soon)).core.status).toBe("running");
      const given = new AbortController();
      const left = engine.readSession({ ...held, waitMs: Infinity, signal: given.signal });
      given.abort();
      expect((await left).core.status).toBe("running");
      const settled = engine.readSession({ ...held, waitMs: Infinity });
      world.release();
      expect(await settled).toMatchObject({
        core: { status: "completed" },
        history: [{ planStepId: expect.any(String) }],
      });
    });

    it("runs a plan that comes with the request, and the next one after it", async () => {
      const { engine } = await open();
      const { sessionId } = await engine.createSession({ owner });
      for (const run of [1, 2]) {
        const plan = planOf("own", [callStep("call", "probe::echo", { value: run })]);
        await engine.executePlan({ owner, sessionId, plan });
        expect(await engine.settled({ owner, sessionId })).toMatchObject({ status: "completed", run });
      }
      const { context, history } = await engine.readSession({ owner, sessionId });
      expect(context["probe::echo_result"]).toBe(2);
      expect(history.map(({ result }) => result)).toEqual([{ output: 1 }, { output: 2 }]);
    });

    it("names everything that is wrong with a plan, and changes nothing (N2)", async () => {
      const { engine } = await open();
      const before = await engine.createSession({ owner });
      const { sessionId } = before;
      const plan = planOf("bad", [callStep("a", "probe::ekho", {}, "b"), callStep("c", "probe::echo")]);
      const refused = engine.executePlan({ owner, sessionId, plan });
      await expect(refused).rejects.toMatchObject({ name: "ErgonError", code: "plan_invalid", retryable: false });
      const problems = await refused.then(
        () => [],
        (error: unknown) => (error as ErgonError).details?.["problems"] as unknown[],
      );
      expect(problems).toEqual(
        expect.arrayContaining([expect.objectContaining({ code: "unknown_tool", severity: "error" })]),
      );
      expect(problems.length).toBeGreaterThan(1);
      expect(await engine.readSession({ owner, sessionId })).toEqual({ core: before, context: {}, history: [] });
    });

    it.each([[null], [17], [{}], [{ planId: "x", startStepId: "y", steps: "z" }]])(
      "refuses %j as a plan",
      async (plan) => {
        const { engine } = await open();
        const { sessionId } = await engine.createSession({ owner });
        const refused = engine.executePlan({ owner, sessionId, plan: plan as unknown as AgenticPlan });
        await expect(refused).rejects.toMatchObject({ code: expect.stringMatching(/^(plan_invalid|input_invalid)$/) });
        expect(await engine.settled({ owner, sessionId })).toMatchObject({ status: "paused", run: 0 });
      },
    );

    it("refuses an input that does not fit, and a plan that is not there", async () => {
      const { engine } = await open();
      const { sessionId } = await engine.createSession({ owner });
      for (const input of [undefined, {}, { text: 5 }, []]) {
        const refused = engine.executePlan({
          owner,
          sessionId,
          plan: "echo",
          ...(input === undefined ? {} : { input }),
        });
        await expect(refused).rejects.toMatchObject({ code: expect.stringMatching(/^plan_(input_)?invalid$/) });
      }
      for (const plan of ["ekho", "", "../x", "a b"]) {
        await expect(engine.executePlan({ owner, sessionId, plan })).rejects.toMatchObject({ code: "plan_not_found" });
      }
    });

    it("runs one plan at a time in a session", async () => {
      const { engine, world } = await open();
      const { sessionId } = await engine.createSession({ owner });
      await engine.executePlan({ owner, sessionId, plan: "hold" });
      const second = { owner, sessionId, plan: "echo", input: { text: "x" } };
      await expect(engine.executePlan(second)).rejects.toMatchObject({ code: "session_busy" });
      world.release();
      expect(await engine.settled({ owner, sessionId })).toMatchObject({ status: "completed", currentPlanId: "hold" });
      await engine.executePlan(second);
      expect(await engine.settled({ owner, sessionId })).toMatchObject({ status: "completed", currentPlanId: "echo" });
    });

    it("gives one of two plans that start at once the session", async () => {
      const { engine } = await open();
      const { sessionId } = await engine.createSession({ owner });
      const both = await Promise.allSettled([1, 2].map(() => engine.executePlan({ owner, sessionId, plan: "hold" })));
      expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      expect(both).toContainEqual(
        expect.objectContaining({ reason: expect.objectContaining({ code: "session_busy" }) }),
      );
    });

    it("cancels what runs, what waits and what never ran, once", async () => {
      const { engine } = await open();
      for (const plan of ["hold", "ask", "fail", undefined]) {
        const { sessionId } = await engine.createSession({ owner });
        if (plan !== undefined) await engine.executePlan({ owner, sessionId, plan });
        if (plan !== undefined && plan !== "hold") await engine.settled({ owner, sessionId });
        expect(await engine.cancel({ owner, sessionId })).toMatchObject({ status: "cancelled" });
        expect(await engine.settled({ owner, sessionId })).toMatchObject({ status: "cancelled", waiting: [] });
        await expect(engine.cancel({ owner, sessionId })).rejects.toMatchObject({ code: "session_ended" });
      }
    });
  });
}
