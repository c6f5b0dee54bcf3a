import { afterEach, describe, expect, it } from "vitest";
import { callStep, createEngineWorld, planOf, type EngineWorld } from "../../../testing/engine/engine-world.ts";
import { silentLogger } from "../../memory/logger.ts";
import type { PlanStep } from "../../schema/plan.ts";
import { createToolGate } from "../../tools/gate/gate.ts";
import { createEngine } from "./engine.ts";
import { MAX_OPEN_CALLS } from "./effects/open-calls.ts";

const owner = "me";
const plans = { get: () => undefined, ids: () => [] };
let world: EngineWorld;
afterEach(() => world.close());

function addOnce(run: () => unknown): void {
  const definition = {
    id: "probe::once",
    description: "Happens once.",
    parameters: { type: "object" },
    effects: "once",
  } as const;
  world.registry.register({ definition, implementation: () => Promise.resolve(run()) });
}

describe("a call whose outcome is unknown", () => {
  const plan = planOf("p", [
    { ...callStep("a", "probe::once", {}, "f"), saveAs: "r" } as never,
    { id: "f", type: "final_response", message: { jsonPath: "$.context.r" } },
  ]);

  async function interrupted(): Promise<ReturnType<typeof createEngine>> {
    world = createEngineWorld();
    const { promise: called, resolve } = Promise.withResolvers<void>();
    addOnce(() => {
      resolve();
      return Promise.withResolvers<never>().promise;
    });
    await world.engine.executePlan({ owner, sessionId: "s", plan, create: true });
    await called;
    await world.engine.close();
    const second = createEngine({ ...world, plans, logger: silentLogger });
    void second.recover();
    const core = await second.settled({ owner, sessionId: "s" });
    expect(core).toMatchObject({ status: "paused_on_error", lastError: { code: "outcome_unknown", stepId: "a" } });
    return second;
  }

  it("is settled by a person who knows what happened", async () => {
    const engine = await interrupted();
    await engine.resume({ owner, sessionId: "s", input: { happened: { ok: 1 } } });
    expect((await engine.settled({ owner, sessionId: "s" })).status).toBe("completed");
    const { context, history } = await engine.readSession({ owner, sessionId: "s" });
    expect(context["finalResponse"]).toEqual({ ok: 1 });
    expect(history).toHaveLength(1);
    await engine.close();
  });

  it("is shown with its arguments and its key, and is not repeated by a fork", async () => {
    const engine = await interrupted();
    const { history, openCalls } = await engine.readSession({ owner, sessionId: "s" });
    expect(history).toEqual([]);
    expect(openCalls).toEqual([
      {
        startedAt: expect.any(String) as string,
        planStepId: "a",
        toolId: "probe::once",
        request: {},
        effects: "once",
        idempotencyKey: expect.stringMatching(/^s:/) as string,
        state: "unknown",
      },
    ]);
    await expect(engine.fork({ owner, sessionId: "s", fromStep: "a" })).rejects.toMatchObject({
      code: "once_repeated",
      message: expect.stringContaining('may have called "probe::once"') as string,
    });
    await engine.resume({ owner, sessionId: "s", input: { action: "skip" } });
    await engine.settled({ owner, sessionId: "s" });
    expect(await engine.readSession({ owner, sessionId: "s" })).not.toHaveProperty("openCalls");
    await engine.close();
  });

  it.each([MAX_OPEN_CALLS, MAX_OPEN_CALLS + 1])("is one of at most so many that are shown: %i", async (count) => {
    world = createEngineWorld();
    const { resolve, promise } = Promise.withResolvers<void>();
    let calls = 0;
    addOnce(() => {
      if (++calls === count) resolve();
      return Promise.withResolvers<never>().promise;
    });
    const each: PlanStep = {
      id: "each",
      type: "loop_over_items",
      collectionPath: { jsonPath: "$.promptInput.items" },
      itemAlias: "item",
      concurrency: count,
      loopPlan: [callStep("a", "probe::once")],
    };
    const input = { items: Array.from({ length: count }, (_, at) => at) };
    await world.engine.executePlan({ owner, sessionId: "s", plan: planOf("p", [each]), input, create: true });
    await promise;
    const { openCalls } = await world.engine.readSession({ owner, sessionId: "s" });
    expect(openCalls).toHaveLength(MAX_OPEN_CALLS);
    expect(new Set(openCalls?.map(({ state }) => state))).toEqual(new Set(["running"]));
  });

  it("stays in history as unknown when a person goes on without knowing", async () => {
    const engine = await interrupted();
    await engine.resume({ owner, sessionId: "s", input: { action: "skip" } });
    await engine.settled({ owner, sessionId: "s" });
    const { history } = await engine.readSession({ owner, sessionId: "s" });
    expect(history).toMatchObject([{ toolId: "probe::once", result: { error: { code: "outcome_unknown" } } }]);
    await engine.close();
  });

  it.each([undefined, null])("is not made again by whoever says nothing (%s)", async (input) => {
    const engine = await interrupted();
    const answer = engine.resume({ owner, sessionId: "s", ...(input === undefined ? {} : { input }) });
    await expect(answer).rejects.toMatchObject({
      code: "resume_input_invalid",
      message: expect.stringContaining('"happened"') as string,
    });
    expect((await engine.readSession({ owner, sessionId: "s" })).core.status).toBe("paused_on_error");
    await engine.close();
  });

  it("may have happened and be the end of the run all the same", async () => {
    const engine = await interrupted();
    await engine.resume({ owner, sessionId: "s", input: { action: "abort", happened: { ok: 1 } } });
    expect((await engine.settled({ owner, sessionId: "s" })).status).toBe("failed");
    const { history, context } = await engine.readSession({ owner, sessionId: "s" });
    expect(history).toMatchObject([{ toolId: "probe::once", result: { output: { ok: 1 } } }]);
    expect(context["finalResponse"]).toBeUndefined();
    await engine.close();
  });

  it("keeps what happened as a blob where it is large, also at the end of the run", async () => {
    const engine = await interrupted();
    await engine.resume({ owner, sessionId: "s", input: { action: "abort", happened: "x".repeat(70_000) } });
    const { history } = await engine.readSession({ owner, sessionId: "s" });
    expect(history).toMatchObject([{ result: { output: { $blob: expect.any(String) as string } } }]);
    await engine.close();
  });

  it.each([{ action: "retry" }, { arguments: { n: 1 } }])("that happened is not done again: %j", async (more) => {
    const engine = await interrupted();
    const answer = engine.resume({ owner, sessionId: "s", input: { happened: 1, ...more } });
    await expect(answer).rejects.toMatchObject({ code: "resume_input_invalid" });
    await engine.close();
  });

  it("is refused as an answer to any other failure", async () => {
    world = createEngineWorld();
    const failing = planOf("f", [callStep("a", "probe::fail")]);
    await world.engine.executePlan({ owner, sessionId: "s", plan: failing, create: true });
    await world.engine.settled({ owner, sessionId: "s" });
    const answer = world.engine.resume({ owner, sessionId: "s", input: { happened: 1 } });
    await expect(answer).rejects.toMatchObject({ code: "resume_input_invalid" });
  });
});

describe("a failed step", () => {
  it("is retried with other arguments under a new key, skipped, or ends the run", async () => {
    world = createEngineWorld();
    const plan = planOf("p", [callStep("a", "probe::fail", {}, "b"), callStep("b", "probe::echo", { value: 2 })]);
    const start = async (sessionId: string): Promise<void> => {
      await world.engine.executePlan({ owner, sessionId, plan, create: true });
      expect((await world.engine.settled({ owner, sessionId })).status).toBe("paused_on_error");
    };
    const answer = async (sessionId: string, input: object): Promise<string> => {
      await world.engine.resume({ owner, sessionId, input: input as never });
      return (await world.engine.settled({ owner, sessionId })).status;
    };
    await start("retry");
    expect(await answer("retry", { action: "retry" })).toBe("paused_on_error");
    expect(await answer("retry", { action: "retry", arguments: { value: 5 } })).toBe("completed");
    const { history } = await world.engine.readSession({ owner, sessionId: "retry" });
    expect(history.map(({ result }) => "output" in result)).toEqual([false, false, true, true]);
    const rows = await world.store.readJournal({ sessionId: "retry", order: "oldest", limit: 10 });
    expect(new Set(rows.map(({ key }) => key)).size).toBe(4);
    await start("skip");
    expect(await answer("skip", { action: "skip" })).toBe("completed");
    await start("abort");
    expect(await answer("abort", { action: "abort" })).toBe("failed");
  });

  it("keeps its key across automatic attempts", async () => {
    world = createEngineWorld();
    const keys: string[] = [];
    const definition = { id: "probe::flaky", description: "Fails twice.", parameters: { type: "object" } } as const;
    world.registry.register({
      definition,
      implementation: (_args: unknown, run: { readonly idempotencyKey: string }) => {
        keys.push(run.idempotencyKey);
        return keys.length < 3 ? Promise.reject(new Error("not yet")) : Promise.resolve("done");
      },
    });
    const retry = { maxAttempts: 3, backoffMs: 1 };
    const plan = planOf("p", [{ id: "a", type: "tool_call", toolId: "probe::flaky", retry }]);
    await world.engine.executePlan({ owner, sessionId: "s", plan, create: true });
    expect((await world.engine.settled({ owner, sessionId: "s" })).status).toBe("completed");
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
  });
});

describe("a session's energy budget", () => {
  it("stops its calls when it is used up, and only its own", async () => {
    world = createEngineWorld();
    const definition = {
      id: "probe::dear",
      description: "Costs.",
      parameters: { type: "object" },
      energyUnits: 4,
    } as const;
    world.registry.register({ definition, implementation: () => Promise.resolve(1) });
    const step = (id: string, next?: string) => callStep(id, "probe::dear", {}, next);
    const plan = planOf("p", [step("a", "b"), step("b", "c"), step("c")]);
    await world.engine.createSession({ owner, sessionId: "s", energyBudget: 10 });
    await world.engine.executePlan({ owner, sessionId: "s", plan });
    const core = await world.engine.settled({ owner, sessionId: "s" });
    expect(core).toMatchObject({
      status: "paused_on_error",
      energySpent: 8,
      lastError: { code: "energy_exhausted", stepId: "c" },
    });
    await world.engine.executePlan({ owner, sessionId: "free", plan, create: true });
    expect((await world.engine.settled({ owner, sessionId: "free" })).status).toBe("completed");
    expect(await world.store.readEnergy({ sessionId: "s" })).toMatchObject({ units: 8 });
  });
});

describe("a call that needs approval", () => {
  it("is refused where nobody can be asked", async () => {
    world = createEngineWorld();
    const policy = () => ({ kind: "needs_approval", reason: "It writes." }) as const;
    const gate = createToolGate({ ...world, logger: silentLogger, policy });
    const { approvals: _none, ...parts } = world;
    const engine = createEngine({ ...parts, gate, plans, logger: silentLogger });
    const plan = planOf("p", [callStep("a", "probe::echo", { value: 1 })]);
    await engine.executePlan({ owner, sessionId: "s", plan, create: true });
    const core = await engine.settled({ owner, sessionId: "s" });
    expect(core).toMatchObject({
      status: "paused_on_error",
      lastError: { code: "approval_denied", message: expect.stringContaining("It writes.") },
    });
    await engine.close();
  });
});
