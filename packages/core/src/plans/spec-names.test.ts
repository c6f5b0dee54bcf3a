import { afterEach, describe, expect, it } from "vitest";
import { callStep, createEngineWorld, planOf, type EngineWorld } from "../../testing/engine/engine-world.ts";
import { PlanExecutor } from "./plan-executor.ts";
import { createSpecStateStore } from "./spec-state-store.ts";
import { WorkflowManager } from "./workflow-manager.ts";

const owner = "me";
let world: EngineWorld;
afterEach(() => world.close());

const asking = planOf("asking", [
  { id: "ask", type: "human_in_the_loop", message: "How much?", saveAs: "n", nextStepIdOnInput: "say" },
  callStep("say", "probe::echo", { value: { jsonPath: "$.context.n" } }),
]);

describe("spec 4's executor and manager", () => {
  it("run a plan to its question and on with the answer", async () => {
    world = createEngineWorld();
    const { engine } = world;
    const executor = new PlanExecutor({ engine, owner });
    const manager = new WorkflowManager({ engine, executor, owner });
    const { sessionId } = await manager.createSession({ context: { greeting: "hello" } });
    expect((await manager.run(sessionId, asking)).status).toBe("paused_on_human");
    expect((await manager.resume(sessionId, 7)).status).toBe("completed");
    const { context, history } = await manager.getSession(sessionId);
    expect(context).toEqual({ greeting: "hello", n: 7, human_input: 7, "probe::echo_result": 7 });
    expect(history).toHaveLength(1);
  });

  it("name a plan, and cancel a session", async () => {
    world = createEngineWorld();
    const { engine } = world;
    const manager = new WorkflowManager({ engine, executor: new PlanExecutor({ engine, owner }), owner });
    const { sessionId } = await manager.createSession();
    await expect(manager.run(sessionId, "no-such-plan")).rejects.toMatchObject({ code: "plan_not_found" });
    expect((await manager.cancel(sessionId)).status).toBe("cancelled");
    await expect(manager.cancel(sessionId)).rejects.toMatchObject({ code: "session_ended" });
  });
});

describe("spec 4's state store", () => {
  const core = {
    sessionId: "s",
    status: "paused",
    createdAt: "2026-01-01T00:00:00.000Z",
    updatedAt: "2026-01-01T00:00:00.000Z",
  } as const;
  const open = () => {
    world = createEngineWorld();
    return createSpecStateStore({ ...world, owner });
  };

  it("keeps sessions, history in order, context and blobs", async () => {
    const store = open();
    await store.createSession({ ...core, waiting: [], run: 0, energySpent: 0 });
    await expect(store.createSession({ ...core, waiting: [], run: 0, energySpent: 0 })).rejects.toMatchObject({
      code: "session_conflict",
    });
    await store.updateContext("s", { a: 1, b: { c: [true] } });
    await store.updateContext("s", { a: 2 });
    expect(await store.getContext("s")).toEqual({ a: 2, b: { c: [true] } });
    for (let n = 0; n < 40; n++) {
      await store.appendToHistory("s", { timestamp: core.createdAt, toolId: "t", request: n, result: { output: n } });
    }
    const { history } = await world.engine.readSession({ owner, sessionId: "s" });
    expect(history.map(({ request }) => request)).toEqual(Array.from({ length: 40 }, (_, n) => n));
    await store.updateSessionStatus("s", "failed", new Error("broken"));
    expect(await store.readSessionCore("s")).toMatchObject({ status: "failed", lastError: { message: "broken" } });
    const ref = await store.putBlob("s", new Uint8Array([1, 2]), "image/png");
    expect(await store.getBlob("s", ref.$blob)).toEqual(new Uint8Array([1, 2]));
  });

  it("refuses what is not there and what is not JSON, and changes nothing", async () => {
    const store = open();
    expect(await store.readSessionCore("s")).toBeNull();
    await expect(store.updateContext("s", { a: 1 })).rejects.toMatchObject({ code: "session_not_found" });
    await store.createSession({ ...core, waiting: [], run: 0, energySpent: 0 });
    await expect(store.updateContext("s", { a: () => 1 })).rejects.toMatchObject({ code: "commit_invalid" });
    await expect(store.getBlob("s", "0".repeat(64))).rejects.toMatchObject({ code: "blob_not_found" });
    expect(await store.getContext("s")).toEqual({});
  });
});
