import { describe, expect, it } from "vitest";
import type { OpenWorld } from "./engine-world.ts";

const owner = "ann";

export function callRules(open: OpenWorld): void {
  describe("calling one tool", () => {
    it("answers with its output and leaves a session with one call", async () => {
      const { engine } = await open();
      const args = { value: { jsonPath: "$.context" } };
      const called = await engine.callTool({ owner, toolId: "probe::echo", args, follow: false });
      expect(called).toEqual({ kind: "finished", output: { jsonPath: "$.context" } });
      const { items } = await engine.listSessions({ owner, limit: 10 });
      expect(items).toMatchObject([{ status: "completed", waiting: [], sessionId: expect.stringMatching(/^call_/) }]);
      const { history } = await engine.readSession({ owner, sessionId: items[0]?.sessionId ?? "" });
      expect(history).toMatchObject([{ toolId: "probe::echo", request: args, result: { output: args.value } }]);
    });

    it("throws what the tool failed with, and keeps it", async () => {
      const { engine } = await open();
      const call = engine.callTool({ owner, toolId: "probe::fail", args: {} });
      await expect(call).rejects.toMatchObject({ code: "tool_failed" });
      const { items } = await engine.listSessions({ owner, limit: 10 });
      expect(items).toMatchObject([{ status: "failed", lastError: { code: "tool_failed" } }]);
    });

    it("changes nothing when it is refused", async () => {
      const { engine } = await open();
      const unknown = engine.callTool({ owner, toolId: "probe::ekho", args: {} });
      await expect(unknown).rejects.toMatchObject({ code: "tool_not_found" });
      const elsewhere = engine.callTool({ owner, toolId: "probe::echo", args: {}, sessionId: "none" });
      await expect(elsewhere).rejects.toMatchObject({ code: "session_not_found" });
      expect((await engine.listSessions({ owner, limit: 10 })).items).toEqual([]);
    });

    it("answers with the session at once where its caller follows it", async () => {
      const { engine, world } = await open();
      const called = await engine.callTool({ owner, toolId: "probe::hold", args: { value: 7 }, follow: true });
      expect(called).toMatchObject({ kind: "started" });
      const ref = { owner, sessionId: called.kind === "started" ? called.sessionId : "" };
      expect(await engine.settled({ ...ref, timeoutMs: 0 })).toMatchObject({ status: "running" });
      world.release();
      expect(await engine.settled(ref)).toMatchObject({ status: "completed" });
      expect((await engine.readSession(ref)).history).toMatchObject([{ result: { output: 7 } }]);
    });

    it("has no plan that it could be forked from", async () => {
      const { engine } = await open();
      await engine.callTool({ owner, toolId: "probe::echo", args: {} });
      const [made] = (await engine.listSessions({ owner, limit: 1 })).items;
      const fork = engine.fork({ owner, sessionId: made?.sessionId ?? "", fromStep: "call" });
      await expect(fork).rejects.toMatchObject({ code: "plan_missing" });
    });
  });
}
