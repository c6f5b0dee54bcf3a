import { afterEach, describe, expect, it } from "vitest";
import { callStep, createEngineWorld, planOf, type EngineWorld } from "../../../testing/engine/engine-world.ts";
import { ErgonError } from "../../errors/ergon-error.ts";
import { silentLogger } from "../../memory/logger.ts";
import type { AgenticPlan } from "../../schema/plan.ts";
import type { Effects } from "../../schema/tool.ts";
import { createToolGate } from "../../tools/gate/gate.ts";
import { createEngine, type EmbeddedEngine } from "./engine.ts";

const owner = "me";
const session = { owner, sessionId: "s" };
const opened: EmbeddedEngine[] = [];
let world: EngineWorld;
afterEach(async () => {
  for (const engine of opened.splice(0)) await engine.close();
  await world.close();
});

/** A tool under test, and how often it was called. */
function tool(effects: Effects, run: (call: number) => unknown): { readonly calls: () => number } {
  let calls = 0;
  const definition = { id: "t::x", description: "Under test.", parameters: { type: "object" }, effects } as const;
  world.registry.register({ definition, implementation: async () => run(++calls) });
  return { calls: () => calls };
}

function engineOn(given: EngineWorld, parts: Partial<Pick<EngineWorld, "gate">> = {}): EmbeddedEngine {
  const plans = { get: () => undefined, ids: () => [] };
  const engine = createEngine({ ...given, ...parts, plans, logger: silentLogger });
  opened.push(engine);
  return engine;
}

const one = planOf("one", [callStep("a", "t::x")]);
const typesOf = async (): Promise<string[]> =>
  (await world.store.readEvents({ afterSeq: 0, limit: 1_000 })).map(({ type }) => type);

describe("two at once", () => {
  it("start one plan, and the other is refused", async () => {
    world = createEngineWorld();
    const { calls } = tool("once", () => world.clock.sleep(30));
    await world.engine.createSession(session);
    const both = await Promise.allSettled([0, 1].map(() => world.engine.executePlan({ ...session, plan: one })));
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(both).toContainEqual({
      status: "rejected",
      reason: expect.objectContaining({ code: "session_busy" }) as Error,
    });
    expect(world.engine.activeRuns()).toBe(1);
    expect((await world.engine.settled(session)).status).toBe("completed");
    expect(calls()).toBe(1);
  });

  it("start a plan in two processes: the calls that the refused one has begun are ended, and leave nothing", async () => {
    world = createEngineWorld();
    const ends: string[] = [];
    const definition = { id: "t::x", description: "Waits.", parameters: { type: "object" }, effects: "read" } as const;
    world.registry.register({
      definition,
      implementation: (_args: unknown, { signal }: { readonly signal: AbortSignal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => void ends.push("aborted"));
          setTimeout(() => resolve(ends.push("ended")), 60);
        }),
    });
    // A tool's code is loaded at its first call.
    await world.engine.executePlan({ owner, sessionId: "earlier", plan: one, create: true });
    await world.engine.settled({ owner, sessionId: "earlier" });
    await world.engine.createSession(session);
    const other = engineOn(world);
    const both = await Promise.allSettled(
      [world.engine, other].map((engine) => engine.executePlan({ ...session, plan: one })),
    );
    expect(both).toMatchObject([{ status: "fulfilled" }, { status: "rejected", reason: { code: "session_busy" } }]);
    expect(ends).toEqual(["ended", "aborted"]);
    expect(other.activeRuns()).toBe(0);
    expect((await world.engine.settled(session)).status).toBe("completed");
    expect((await world.engine.readSession(session)).history).toHaveLength(1);
  });

  it("answer one question: the second answer is not given to the next", async () => {
    world = createEngineWorld();
    const collectionPath = { jsonPath: "$.promptInput.xs" };
    const loopPlan = [{ id: "h", type: "human_in_the_loop", message: "delete {{$.context.x}}?" } as const];
    const plan = planOf("ask", [{ id: "each", type: "loop_over_items", collectionPath, itemAlias: "x", loopPlan }]);
    await world.engine.executePlan({ ...session, plan, input: { xs: ["A", "B", "C"] }, create: true });
    await world.engine.settled(session);
    const both = await Promise.allSettled(
      ["1", "2"].map((input) => world.engine.resume({ ...session, input, step: "h" })),
    );
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect((await world.engine.settled(session)).waiting).toMatchObject([{ message: "delete B?" }]);
  });
});

describe("closing", () => {
  it("leaves a check that was under way to the next start", async () => {
    world = createEngineWorld();
    const { calls } = tool("idempotent", () => 1);
    const policy = async () => {
      await world.clock.sleep(40);
      return { kind: "allow" } as const;
    };
    const first = engineOn(world, { gate: createToolGate({ ...world, logger: silentLogger, policy }) });
    await first.executePlan({ ...session, plan: one, create: true });
    await first.close({ graceMs: 1_000 });
    expect(calls()).toBe(0);
    const second = engineOn(world);
    await second.recover();
    expect((await second.settled(session)).status).toBe("completed");
    expect(calls()).toBe(1);
  });

  it("begins nothing that was being started or taken up", async () => {
    world = createEngineWorld();
    const { calls } = tool("once", () => 1);
    const starting = world.engine.executePlan({ ...session, plan: one, create: true });
    await world.engine.close();
    await starting.catch((thrown: unknown) => expect(thrown).toMatchObject({ code: "engine_stopping" }));
    const before = calls();
    const second = engineOn(world);
    const recovering = second.recover();
    await second.close();
    await recovering;
    await world.clock.sleep(20);
    expect(calls()).toBe(before);
    expect(second.activeRuns()).toBe(0);
  });
});

describe("draining", () => {
  const two = planOf("two", [callStep("a", "t::x", {}, "b"), callStep("b", "probe::echo")]);

  /** Runs a plan of two calls until the first is under way, drains the engine, and lets the call end. */
  async function drained(plan: AgenticPlan, how: { readonly isAwaited?: boolean } = {}) {
    world = createEngineWorld();
    const engine = engineOn(world);
    const { promise, resolve: release } = Promise.withResolvers<void>();
    const { calls } = tool("idempotent", () => promise);
    await engine.executePlan({ ...session, plan, create: true, ...how });
    while (calls() === 0) await world.clock.sleep(5);
    engine.drain();
    return { engine, release, history: async () => (await engine.readSession(session)).history };
  }

  it("lets calls under way end, and begins no further one; the next start does", async () => {
    const { engine, release, history } = await drained(two);
    release();
    while (engine.activeRuns() > 0) await world.clock.sleep(5);
    expect(await engine.readSession(session)).toMatchObject({ core: { status: "running" } });
    expect(await history()).toMatchObject([{ toolId: "t::x" }]);
    await engine.close();
    const next = engineOn(world);
    await next.recover();
    expect(await next.settled(session)).toMatchObject({ status: "completed" });
    expect(await history()).toMatchObject([{ toolId: "t::x" }, { toolId: "probe::echo" }]);
  });

  it("lets what is awaited here go on, and does what it is asked, until it is closed", async () => {
    const { engine, release } = await drained(two, { isAwaited: true });
    release();
    expect(await engine.settled(session)).toMatchObject({ status: "completed" });
    const another = { owner, sessionId: "another" };
    await engine.executePlan({ ...another, plan: one, create: true });
    expect(await engine.settled(another)).toMatchObject({ status: "completed" });
    await engine.close();
    const late = engine.executePlan({ owner, sessionId: "late", plan: one, create: true });
    await expect(late).rejects.toMatchObject({ code: "engine_stopping" });
  });

  it("says of an answer that it cannot take that it is going, not that somebody else has answered", async () => {
    const ask = { id: "h", type: "human_in_the_loop", message: "?" } as const;
    const branches = [{ steps: [ask] }, { steps: [callStep("a", "t::x")] }];
    const { engine, release } = await drained(planOf("p", [{ id: "both", type: "parallel_branch", branches }]));
    await expect(engine.resume({ ...session, input: "yes" })).rejects.toMatchObject({
      code: "engine_stopping",
      retryable: true,
    });
    release();
    while (engine.activeRuns() > 0) await world.clock.sleep(5);
    await engine.resume({ ...session, input: "yes" });
    expect(await engine.settled(session)).toMatchObject({ status: "completed" });
  });

  it("wakes nobody who sleeps", async () => {
    world = createEngineWorld();
    const { calls } = tool("idempotent", () => {
      throw new Error("not yet");
    });
    const retry = { maxAttempts: 2, backoffMs: 1_000 };
    const plan = planOf("p", [{ id: "a", type: "tool_call", toolId: "t::x", retry }]);
    await world.engine.executePlan({ ...session, plan, create: true });
    while (calls() === 0 || world.engine.activeRuns() > 0) await world.clock.sleep(1);
    world.engine.drain();
    await world.clock.sleep(1_300);
    expect(calls()).toBe(1);
  });
});

describe("a branch that sleeps", () => {
  it("is woken after a restart, though its sibling waits for a person", async () => {
    world = createEngineWorld();
    const { calls } = tool("idempotent", (call) => {
      if (call === 1) throw new Error("not yet");
      return call;
    });
    const retry = { maxAttempts: 3, backoffMs: 60 };
    const ask = { id: "h", type: "human_in_the_loop", message: "?" } as const;
    const branches = [{ steps: [ask] }, { steps: [{ id: "a", type: "tool_call", toolId: "t::x", retry } as const] }];
    await world.engine.executePlan({
      ...session,
      plan: planOf("p", [{ id: "b", type: "parallel_branch", branches }]),
      create: true,
    });
    while (calls() === 0) await world.clock.sleep(5);
    await world.clock.sleep(10);
    await world.engine.close();
    const second = engineOn(world);
    await second.recover();
    while (calls() < 2) await world.clock.sleep(5);
    await second.resume({ ...session, input: "go on" });
    expect((await second.settled(session)).status).toBe("completed");
  });
});

describe("a tool whose effects are once", () => {
  const plan = planOf("p", [{ id: "a", type: "tool_call", toolId: "t::x", retry: { maxAttempts: 3, backoffMs: 5 } }]);

  it("is tried again when it says that it may be", async () => {
    world = createEngineWorld();
    const { calls } = tool("once", (call) => {
      if (call === 1) throw new ErgonError("busy", "Nothing was sent.", { retryable: true });
      return call;
    });
    await world.engine.executePlan({ ...session, plan, create: true });
    expect((await world.engine.settled(session)).status).toBe("completed");
    expect(calls()).toBe(2);
  });

  it("is not tried again when it says nothing of it", async () => {
    world = createEngineWorld();
    const { calls } = tool("once", () => {
      throw new Error("connection lost");
    });
    await world.engine.executePlan({ ...session, plan, create: true });
    const core = await world.engine.settled(session);
    expect(core).toMatchObject({ status: "paused_on_error", lastError: { code: "tool_failed", retryable: false } });
    expect(calls()).toBe(1);
  });
});

describe("whoever watches", () => {
  it("hears of every question, also of one that follows another", async () => {
    world = createEngineWorld();
    const ask = (id: string, next?: string) =>
      ({
        id,
        type: "human_in_the_loop",
        message: `${id}?`,
        ...(next === undefined ? {} : { nextStepIdOnInput: next }),
      }) as const;
    await world.engine.executePlan({ ...session, plan: planOf("p", [ask("h1", "h2"), ask("h2")]), create: true });
    await world.engine.settled(session);
    await world.engine.resume({ ...session, input: 1 });
    expect((await typesOf()).filter((type) => type === "session-paused")).toHaveLength(2);
  });

  it("hears of an error that a retry runs into again", async () => {
    world = createEngineWorld();
    const missing = planOf("p", [callStep("a", "probe::echo", { value: { jsonPath: "$.context.nowhere" } })]);
    await world.engine.executePlan({ ...session, plan: missing, create: true });
    await world.engine.settled(session);
    await world.clock.sleep(2);
    await world.engine.resume({ ...session, input: { action: "retry" } });
    expect((await world.engine.settled(session)).status).toBe("paused_on_error");
    expect((await typesOf()).filter((type) => type === "session-paused")).toHaveLength(2);
  });
});

describe("a session whose blobs are lost", () => {
  it("can still be cancelled", async () => {
    world = createEngineWorld();
    const ask = { id: "h", type: "human_in_the_loop", message: "?" } as const;
    const blobs = { ...world.blobs, get: () => Promise.reject(new ErgonError("blob_not_found", "Gone.")) };
    const input = { text: "x".repeat(100_000) };
    await world.engine.executePlan({ ...session, plan: planOf("p", [ask]), input, create: true });
    await world.engine.settled(session);
    const second = engineOn({ ...world, blobs });
    await expect(second.resume({ ...session, input: 1 })).rejects.toMatchObject({ code: "blob_not_found" });
    expect((await second.cancel(session)).status).toBe("cancelled");
  });
});
