import { afterEach, describe, expect, it } from "vitest";
import { callStep, createEngineWorld, type EngineWorld, planOf } from "../../../testing/engine/engine-world.ts";
import type { PlanStep } from "../../schema/plan.ts";
import { defineAction, defineTool } from "../../tools/define.ts";
import { z } from "zod";
import { MAX_DOWNSTREAM_CHARS, merged } from "./history/downstream.ts";

const worlds: EngineWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

async function run(steps: readonly PlanStep[], prepare: (world: EngineWorld) => void = () => undefined) {
  const world = createEngineWorld();
  worlds.push(world);
  prepare(world);
  const ref = { owner: "o", sessionId: "s" };
  await world.engine.executePlan({ ...ref, plan: planOf("p", steps), create: true });
  await world.engine.settled(ref);
  return world.engine.readSession(ref);
}

function failing(onError: "continue" | "fail" | "pause", toolId = "probe::fail"): PlanStep {
  return { ...callStep("bad", toolId, {}, "good"), onError } as PlanStep;
}
const good = callStep("good", "probe::echo", { value: 1 });

describe("a step says what its failure means for the run", () => {
  it("continue: it is recorded and the next step runs", async () => {
    const { core, history } = await run([failing("continue"), good]);
    expect(core.status).toBe("completed");
    expect(history).toMatchObject([
      { planStepId: "bad", result: { error: { code: "tool_failed" } } },
      { planStepId: "good", result: { output: 1 } },
    ]);
  });

  it("fail: it ends the run", async () => {
    const { core, history } = await run([failing("fail"), good]);
    expect(core).toMatchObject({ status: "failed", lastError: { code: "tool_failed" } });
    expect(history).toHaveLength(1);
  });

  it("pause, the default: somebody decides", async () => {
    expect((await run([failing("pause"), good])).core.status).toBe("paused_on_error");
  });

  it("continue: a call that the gate refuses is recorded too", async () => {
    const { core, history } = await run([failing("continue", "needs_context"), good], ({ registry }) => {
      registry.register(
        defineAction({
          id: "needs_context",
          description: "…",
          requiredContext: ["who"],
          actionFn: async () => ({ success: true }),
        }),
      );
    });
    expect(core.status).toBe("completed");
    expect(history).toMatchObject([{ planStepId: "bad", result: { error: { code: "context_missing" } } }, {}]);
  });

  it("continue: a call whose outcome nobody knows is closed as such", async () => {
    const { core, history } = await run(
      [{ ...failing("continue", "hangs"), timeoutMs: 20 } as PlanStep, good],
      ({ registry }) => {
        registry.register(
          defineTool({
            name: "hangs",
            description: "…",
            argsSchema: z.object({}),
            effects: "once",
            run: () => new Promise(() => undefined),
          }),
        );
      },
    );
    expect(core.status).toBe("completed");
    expect(history).toMatchObject([{ planStepId: "bad", result: { error: { code: "outcome_unknown" } } }, {}]);
  });

  it("continue: arguments that turn out wrong end the run all the same", async () => {
    const { core } = await run([failing("continue", "fussy"), good], ({ registry }) => {
      registry.register(
        defineAction({
          id: "fussy",
          description: "…",
          argsSchema: z.object({ n: z.number() }),
          getDefaultArgs: () => ({}),
          actionFn: async () => ({ success: true }),
        }),
      );
    });
    expect(core).toMatchObject({ status: "failed", lastError: { code: "args_invalid" } });
  });
});

describe("what actions leave for the prompts of those that follow", () => {
  const leaves = (id: string) =>
    defineAction({
      id,
      description: "Leaves a note.",
      actionFn: async () => ({
        success: true,
        data: id === "large" ? "x".repeat(70_000) : null,
        dataForDownstreamPrompt: { [id]: { dataSummary: id, structured: null, truncated: false } },
      }),
    });

  it("adds up along a list, over branches, and also where the answer itself is a blob", async () => {
    const { context } = await run(
      [
        callStep("first", "large", {}, "both"),
        {
          id: "both",
          type: "parallel_branch",
          branches: [{ steps: [callStep("l", "left")] }, { steps: [callStep("r", "right")] }],
        },
      ],
      ({ registry }) => {
        for (const id of ["large", "left", "right"]) registry.register(leaves(id));
      },
    );
    expect(Object.keys(context["downstreamData"] as object).sort()).toEqual(["large", "left", "right"]);
  });

  it("is in a fork as it was when the step began", async () => {
    const world = createEngineWorld();
    worlds.push(world);
    const heard: unknown[] = [];
    world.registry.register(leaves("left"));
    world.registry.register(
      defineAction({
        id: "listens",
        description: "Listens.",
        actionFn: async ({ context }) => {
          heard.push(context["downstreamData"]);
          return {
            success: true,
            dataForDownstreamPrompt: { listens: { dataSummary: "", structured: 1, truncated: false } },
          };
        },
      }),
    );
    const ref = { owner: "o", sessionId: "s" };
    const plan = planOf("p", [callStep("a", "left", {}, "b"), callStep("b", "listens")]);
    await world.engine.executePlan({ ...ref, plan, create: true, context: { downstreamData: { before: 1 }, kept: 1 } });
    await world.engine.settled(ref);
    const { sessionId } = await world.engine.fork({ ...ref, fromStep: "b", repeatOnce: true });
    await world.engine.settled({ ...ref, sessionId });
    expect(heard[1]).toEqual(heard[0]);
    expect(heard[0]).toMatchObject({ before: 1, left: { dataSummary: "left" } });
    expect((await world.engine.readSession({ ...ref, sessionId })).context).toMatchObject({ kept: 1 });
  });

  it("stays within its bound: the oldest go first", () => {
    const half = "x".repeat(MAX_DOWNSTREAM_CHARS / 2);
    const two = merged({ a: half }, { b: "y" });
    expect(Object.keys(two)).toEqual(["a", "b"]);
    expect(Object.keys(merged(two, { c: half }))).toEqual(["b", "c"]);
    expect(merged({ a: 1, b: 2 }, { a: 3 })).toEqual({ b: 2, a: 3 });
  });
});
