import { describe, expect, it } from "vitest";
import type { Engine } from "../../src/ports/engine.ts";
import type { OpenWorld } from "./engine-world.ts";

const owner = "ann";

export function waitRules(open: OpenWorld): void {
  describe("waits", () => {
    it("asks a person, refuses an answer that does not fit, and goes on with one that does", async () => {
      const { engine } = await open();
      const sessionId = await running(engine, "ask");
      const waiting = await engine.settled({ owner, sessionId });
      expect(waiting.status).toBe("paused_on_human");
      expect(waiting.waiting).toMatchObject([{ stepId: "one", path: "one", kind: "human", message: "What is one?" }]);
      const wrong = engine.resume({ owner, sessionId, input: { n: "x" } });
      await expect(wrong).rejects.toMatchObject({ code: "resume_input_invalid" });
      await expect(wrong).rejects.toMatchObject({ details: { issues: [expect.objectContaining({ path: "/n" })] } });
      expect(await engine.settled({ owner, sessionId })).toEqual(waiting);
      await engine.resume({ owner, sessionId, input: { n: 3 } });
      expect(await engine.settled({ owner, sessionId })).toMatchObject({ status: "completed", waiting: [] });
      expect((await engine.readSession({ owner, sessionId })).context).toMatchObject({ human_input: { n: 3 } });
      await expect(engine.resume({ owner, sessionId, input: { n: 3 } })).rejects.toMatchObject({
        code: "wait_not_open",
      });
    });

    it("wants to know which of several waits is meant", async () => {
      const { engine } = await open();
      const sessionId = await running(engine, "ask-twice");
      const { waiting } = await engine.settled({ owner, sessionId });
      const paths = waiting.map(({ path }) => path);
      expect(paths).toHaveLength(2);
      const ambiguous = engine.resume({ owner, sessionId, input: { n: 1 } });
      await expect(ambiguous).rejects.toMatchObject({ code: "wait_ambiguous", details: { open: paths } });
      const unknown = engine.resume({ owner, sessionId, step: "three", input: { n: 1 } });
      await expect(unknown).rejects.toMatchObject({ code: "wait_not_open", details: { open: paths } });
      await engine.resume({ owner, sessionId, step: "two", input: { n: 2 } });
      const later = await engine.settled({ owner, sessionId });
      expect(later.waiting.map(({ stepId }) => stepId)).toEqual(["one"]);
      await engine.resume({ owner, sessionId, step: paths[0] ?? "", input: { n: 1 } });
      expect(await engine.settled({ owner, sessionId })).toMatchObject({ status: "completed" });
    });

    it.each([
      [{ action: "retry", arguments: { value: "fine" } }, "completed"],
      [{ action: "skip" }, "completed"],
      [{ action: "abort" }, "failed"],
      [undefined, "paused_on_error"],
    ] as const)("settles a failed step with %j as %s", async (input, status) => {
      const { engine } = await open();
      const sessionId = await running(engine, "fail");
      const paused = await engine.settled({ owner, sessionId });
      expect(paused).toMatchObject({ status: "paused_on_error", lastError: { code: "tool_failed", stepId: "call" } });
      await engine.resume({ owner, sessionId, ...(input === undefined ? {} : { input }) });
      expect(await engine.settled({ owner, sessionId })).toMatchObject({ status });
    });

    it.each([
      [{ action: "again" }],
      ["retry"],
      [{ happened: 1 }],
      [{ action: "skip", arguments: {} }],
      [{ action: "retry", more: 1 }],
    ])("refuses %j after an error, and keeps waiting (N2)", async (input) => {
      const { engine } = await open();
      const sessionId = await running(engine, "fail");
      const before = await engine.settled({ owner, sessionId });
      await expect(engine.resume({ owner, sessionId, input })).rejects.toMatchObject({ code: "resume_input_invalid" });
      expect(await engine.settled({ owner, sessionId })).toEqual(before);
    });

    it("gives back what there is when the time is over or nobody waits any more", async () => {
      const { engine } = await open();
      const sessionId = await running(engine, "hold");
      expect(await engine.settled({ owner, sessionId, timeoutMs: 0 })).toMatchObject({ status: "running" });
      expect(await engine.settled({ owner, sessionId, timeoutMs: 30 })).toMatchObject({ status: "running" });
      const gone = new AbortController();
      const waiting = engine.settled({ owner, sessionId, signal: gone.signal });
      gone.abort();
      expect(await waiting).toMatchObject({ status: "running" });
      expect(await engine.settled({ owner, sessionId, signal: gone.signal })).toMatchObject({ status: "running" });
    });

    it("tells everybody who waits", async () => {
      const { engine, world } = await open();
      const sessionId = await running(engine, "hold");
      const waiting = Array.from({ length: 5 }, () => engine.settled({ owner, sessionId, timeoutMs: 10_000 }));
      world.release();
      for (const core of await Promise.all(waiting)) expect(core.status).toBe("completed");
    });
  });

  async function running(engine: Engine, plan: string): Promise<string> {
    const { sessionId } = await engine.createSession({ owner });
    await engine.executePlan({ owner, sessionId, plan });
    return sessionId;
  }
}
