import { describe, expect, it } from "vitest";
import { AT } from "../state-store/samples.ts";
import { callStep, type OpenWorld, planOf } from "./engine-world.ts";

const owner = "ann";
const echo = { owner, id: "order-A-1", plan: "echo", input: { text: "x" } };

export function namedRunRules(open: OpenWorld): void {
  describe("runs that have an id", () => {
    it("are begun in a session of their own, which shows the id", async () => {
      const { engine } = await open();
      const core = await engine.startRun(echo);
      expect(core).toMatchObject({ runId: "order-A-1", currentPlanId: "echo", run: 1 });
      expect(core.sessionId).not.toBe("order-A-1");
      expect(await engine.settled({ owner, sessionId: core.sessionId })).toMatchObject({
        status: "completed",
        runId: "order-A-1",
      });
    });

    it("are found when they are started again, under way and finished", async () => {
      const { engine, world } = await open();
      const hold = { owner, id: "held", plan: "hold" };
      const { sessionId } = await engine.startRun(hold);
      expect(await engine.startRun(hold)).toMatchObject({ sessionId, run: 1, status: "running" });
      world.release();
      await engine.settled({ owner, sessionId });
      expect(await engine.startRun({ ...hold, input: {} })).toMatchObject({ sessionId, run: 1, status: "completed" });
      expect((await engine.readSession({ owner, sessionId })).history).toHaveLength(1);
    });

    it("are one run, however many start it at once", async () => {
      const { engine } = await open();
      const cores = await Promise.all(Array.from({ length: 20 }, () => engine.startRun(echo)));
      expect(new Set(cores.map(({ sessionId }) => sessionId)).size).toBe(1);
      expect((await engine.listSessions({ owner, limit: 100 })).items).toHaveLength(1);
      const sessionId = cores[0]?.sessionId ?? "";
      await engine.settled({ owner, sessionId });
      expect((await engine.readSession({ owner, sessionId })).history).toHaveLength(1);
    });

    it("are the same whether the plan comes by its id or whole, in whatever order its fields are", async () => {
      const { engine, world } = await open();
      const { sessionId } = await engine.startRun(echo);
      const { steps, ...rest } = world.plans.find(({ planId }) => planId === "echo") ?? planOf("none", []);
      expect(await engine.startRun({ ...echo, plan: { steps, ...rest } })).toMatchObject({ sessionId });
    });

    it("refuse another plan and another input, and change nothing", async () => {
      const { engine } = await open();
      const { sessionId } = await engine.startRun(echo);
      const settled = await engine.settled({ owner, sessionId });
      const conflict = { code: "run_conflict", details: { runId: "order-A-1", sessionId } };
      await expect(engine.startRun({ ...echo, input: { text: "y" } })).rejects.toMatchObject({
        ...conflict,
        message: expect.stringContaining("another input"),
      });
      await expect(engine.startRun({ ...echo, plan: "hold" })).rejects.toMatchObject({
        ...conflict,
        message: expect.stringContaining("another plan"),
      });
      expect(await engine.settled({ owner, sessionId })).toEqual(settled);
      expect((await engine.listSessions({ owner, limit: 10 })).items).toHaveLength(1);
    });

    it("take no id for a plan that is refused, so that it can be mended", async () => {
      const { engine } = await open();
      const bad = planOf("bad", [callStep("a", "probe::ekho")]);
      await expect(engine.startRun({ ...echo, plan: bad })).rejects.toMatchObject({ code: "plan_invalid" });
      await expect(engine.startRun({ ...echo, input: {} })).rejects.toMatchObject({ code: "plan_invalid" });
      expect((await engine.listSessions({ owner, limit: 10 })).items).toEqual([]);
      expect(await engine.startRun(echo)).toMatchObject({ runId: "order-A-1" });
    });

    it("are each owner's own", async () => {
      const { engine } = await open();
      const anns = await engine.startRun(echo);
      const bobs = await engine.startRun({ ...echo, owner: "bob", input: { text: "bob" } });
      expect(bobs.sessionId).not.toBe(anns.sessionId);
      expect((await engine.listSessions({ owner: "bob", runId: "order-A-1", limit: 9 })).items).toMatchObject([
        { sessionId: bobs.sessionId },
      ]);
    });

    it("may be one of several in a session, which the first then no longer shows", async () => {
      const { engine } = await open();
      const { sessionId } = await engine.createSession({ owner });
      const first = { ...echo, sessionId };
      await engine.executePlan(first);
      await engine.settled({ owner, sessionId });
      await engine.executePlan({ owner, sessionId, plan: "echo", input: { text: "y" } });
      const { runId, run } = await engine.settled({ owner, sessionId });
      expect({ runId, run }).toEqual({ runId: undefined, run: 2 });
      expect(await engine.executePlan(first)).toMatchObject({ sessionId, run: 2 });
      const elsewhere = await engine.createSession({ owner });
      await expect(engine.executePlan({ ...first, sessionId: elsewhere.sessionId })).rejects.toMatchObject({
        code: "run_conflict",
      });
      expect((await engine.listSessions({ owner, runId: echo.id, limit: 9 })).items).toMatchObject([{ sessionId }]);
    });

    it("are not begun again once they were deleted", async () => {
      const { engine, world } = await open();
      const { sessionId } = await engine.startRun(echo);
      await engine.settled({ owner, sessionId });
      await world.store.commit({ sessionId, owner, expireRuns: AT });
      await expect(engine.startRun(echo)).rejects.toMatchObject({ code: "run_expired" });
    });

    it.each(["", "-a", "a b", "ü", "../x", "a".repeat(129)])("refuse %j as an id", async (id) => {
      const { engine } = await open();
      await expect(engine.startRun({ ...echo, id })).rejects.toMatchObject({ code: "input_invalid" });
      expect((await engine.listSessions({ owner, limit: 10 })).items).toEqual([]);
    });

    it("are a new run each time without an id", async () => {
      const { engine } = await open();
      const { id: _none, ...request } = echo;
      const cores = [await engine.startRun(request), await engine.startRun(request)];
      expect(new Set(cores.map(({ sessionId }) => sessionId)).size).toBe(2);
      expect(cores.map(({ runId }) => runId)).toEqual([undefined, undefined]);
    });
  });
}
