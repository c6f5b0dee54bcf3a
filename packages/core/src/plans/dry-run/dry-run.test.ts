import { describe, expect, it } from "vitest";
import { createIds } from "../../memory/ids.ts";
import { createSystemClock } from "../../memory/clock.ts";
import { silentLogger } from "../../memory/logger.ts";
import type { Json, JsonObject } from "../../schema/values/json.ts";
import type { AgenticPlan, PlanStep } from "../../schema/plan.ts";
import { createToolGate } from "../../tools/gate/gate.ts";
import type { ToolPolicy } from "../../tools/gate/policy.ts";
import { ToolRegistry } from "../../tools/registry.ts";
import { createDryRun, MAX_DRY_CALLS, MAX_DRY_WAITS, MAX_SHOWN_CHARS, type DryRun } from "./dry-run.ts";

const owner = "ann";

describe("a dry run", () => {
  it("says what would be called with which arguments, and calls nothing", async () => {
    const { dryRun, called } = world();
    const plan = planOf([
      call("find", "shop::find", { words: from("$.promptInput.words") }, "each"),
      {
        id: "each",
        type: "loop_over_items",
        collectionPath: { jsonPath: "$.context['shop::find_result'].items" },
        itemAlias: "item",
        loopPlan: [call("price", "shop::price", { sku: from("$.context.item.sku") })],
        nextStepId: "both",
      },
      {
        id: "both",
        type: "parallel_branch",
        branches: [{ steps: [call("left", "shop::find")] }, { steps: [call("right", "shop::buy", { cents: 1 })] }],
        nextStepId: "say",
      },
      { id: "say", type: "final_response", message: { jsonPath: "$.context['shop::price_result'].cents" } },
    ]);
    const report = await dryRun({ owner, plan, input: { words: "red" } });
    expect(called).toEqual([]);
    expect(report).toMatchObject({ dryRun: true, planId: "dry", ok: true, waits: [], problems: [], notReached: [] });
    expect(report.calls).toMatchObject([
      {
        path: "find",
        toolId: "shop::find",
        effects: "read",
        arguments: { words: "red" },
        output: { items: [{ sku: "A-1" }] },
      },
      { path: "each[0]/price", arguments: { sku: "A-1" }, output: { cents: 0 } },
      { path: "both[0]/left", toolId: "shop::find" },
      { path: "both[1]/right", toolId: "shop::buy", effects: "once", energyUnits: 3 },
    ]);
    expect(report.energyUnits).toBeGreaterThanOrEqual(3);
    expect(report.finalResponse).toBe(0);
  });

  it("takes a person's answers from their schema, and follows conditions by them", async () => {
    const { dryRun } = world();
    const plan = planOf([
      {
        id: "ask",
        type: "human_in_the_loop",
        message: "Buy it?",
        inputSchema: { type: "object", properties: { yes: { type: "boolean" } }, required: ["yes"] },
        saveAs: "answer",
        nextStepIdOnInput: "which",
      },
      {
        id: "which",
        type: "conditional_branch",
        condition: { left: from("$.context.answer.yes"), operator: "equals", right: true },
        onTrue: { nextStepId: "buy" },
        onFalse: { nextStepId: "find" },
      },
      call("buy", "shop::buy", { cents: 1 }),
      call("find", "shop::find"),
    ]);
    const report = await dryRun({ owner, plan });
    expect(report).toMatchObject({
      ok: true,
      waits: [{ path: "ask", stepId: "ask", message: "Buy it?", answer: { yes: true } }],
      notReached: ["find"],
    });
    expect(report.calls.map(({ stepId }) => stepId)).toEqual(["buy"]);
  });

  it("names what a person would have to approve, and goes on as if they had", async () => {
    const { dryRun, called } = world(({ tool }) =>
      tool.effects === "once" ? { kind: "needs_approval", reason: "it spends money" } : { kind: "allow" },
    );
    const plan = planOf([call("buy", "shop::buy", { cents: 1 }, "find"), call("find", "shop::find")]);
    const report = await dryRun({ owner, plan });
    expect(report.ok).toBe(true);
    expect(report.calls.map(({ stepId, approval }) => [stepId, approval])).toEqual([
      ["buy", "it spends money"],
      ["find", undefined],
    ]);
    expect(called).toEqual([]);
  });

  it("names every step that could not go on, and walks past it", async () => {
    const { dryRun } = world();
    const plan = planOf([
      call("odd", "shop::odd", {}, "buy"),
      call("buy", "shop::buy", { cents: from("$.context.price") }, "find"),
      call("find", "shop::find"),
    ]);
    const report = await dryRun({ owner, plan, context: { price: "much" } });
    expect(report.ok).toBe(false);
    expect(report.problems).toMatchObject([
      { path: "odd", error: { code: "output_invalid", message: /examples/ }, unsure: true },
      { path: "buy", error: { code: "args_invalid" }, unsure: false },
    ]);
    expect(report.calls.map(({ stepId }) => stepId)).toEqual(["odd", "find"]);
  });

  it("cannot say of a step that needs what a tool without an output schema gives", async () => {
    const { dryRun } = world();
    const plan = planOf([
      call("buy", "shop::buy", { cents: 1 }, "price"),
      call("price", "shop::price", { sku: from("$.context['shop::buy_result'].sku") }),
    ]);
    expect(await dryRun({ owner, plan })).toMatchObject({
      ok: true,
      unknownOutputs: ["shop::buy"],
      problems: [{ path: "price", error: { code: "pointer_unresolved" }, unsure: true }],
    });
  });

  it("cannot say of a step that needs more than an output schema promises", async () => {
    const { dryRun } = world();
    const plan = planOf([
      call("open", "shop::open", {}, "each"),
      {
        id: "each",
        type: "loop_over_items",
        collectionPath: { jsonPath: "$.context['shop::open_result'].items", default: [{}] },
        itemAlias: "item",
        loopPlan: [call("price", "shop::price", { sku: from("$.context.item.sku") })],
        nextStepId: "say",
      },
      { id: "say", type: "final_response", message: "It is {{$.context['shop::open_result'].value}}." },
    ]);
    expect(await dryRun({ owner, plan })).toMatchObject({
      ok: true,
      problems: [
        { path: "each[0]/price", error: { code: "pointer_unresolved" }, unsure: true },
        { path: "say", error: { code: "pointer_unresolved" }, unsure: true },
      ],
    });
  });

  it("is sure of a step that fails of the input, whatever tools were called before", async () => {
    const { dryRun } = world();
    const plan = planOf([
      call("buy", "shop::buy", { cents: 1 }, "each"),
      {
        id: "each",
        type: "loop_over_items",
        collectionPath: { jsonPath: "$.promptInput.prices" },
        itemAlias: "cents",
        loopPlan: [call("pay", "shop::buy", { cents: from("$.context.cents") })],
      },
    ]);
    expect(await dryRun({ owner, plan, input: { prices: [1, "much"] } })).toMatchObject({
      ok: false,
      problems: [{ path: "each[1]/pay", error: { code: "args_invalid" }, unsure: false }],
    });
  });

  it("sees the context and the budget that it is given", async () => {
    const { dryRun } = world();
    const plan = planOf([call("buy", "shop::buy", { cents: from("$.context.price") })]);
    expect(await dryRun({ owner, plan, context: { price: 5 } })).toMatchObject({
      calls: [{ arguments: { cents: 5 } }],
    });
    const poor = await dryRun({ owner, plan, context: { price: 5 }, energyBudget: 1 });
    expect(poor.problems).toMatchObject([{ error: { code: "energy_exhausted" } }]);
  });

  it("reads blobs of the context where they are", async () => {
    const { dryRun } = world();
    const bytes = new TextEncoder().encode(JSON.stringify({ cents: 8, fill: "x".repeat(70_000) }));
    const ref = { $blob: "a".repeat(64), bytes: bytes.byteLength, mediaType: "application/json" };
    const asked: string[] = [];
    const report = await dryRun({
      owner,
      plan: planOf([call("buy", "shop::buy", { cents: from("$.context.large.cents") })]),
      context: { large: ref },
      readBlob: async (request) => {
        asked.push(`${request.owner} ${request.id}`);
        return { bytes, mediaType: "application/json" };
      },
    });
    expect(report.calls).toMatchObject([{ arguments: { cents: 8 } }]);
    expect(new Set(asked)).toEqual(new Set([`ann ${ref.$blob}`]));
  });

  it("refuses a plan or an input that preflight refuses, with all problems", async () => {
    const { dryRun } = world();
    const plan = planOf([call("a", "shop::fnid", {}, "gone"), call("b", "shop::find")]);
    await expect(dryRun({ owner, plan })).rejects.toMatchObject({ code: "plan_invalid" });
    await expect(dryRun({ owner, plan: "none" })).rejects.toMatchObject({ code: "plan_not_found" });
  });

  it("gives up where made-up values go round without end", async () => {
    const { dryRun } = world();
    const calls = await dryRun({ owner, plan: round(call("again", "shop::find", {}, "more")) });
    expect(calls).toMatchObject({ ok: false, stopped: expect.stringContaining(String(MAX_DRY_CALLS)) });
    expect(calls.calls).toHaveLength(MAX_DRY_CALLS);
    const asks = { id: "again", type: "human_in_the_loop", message: "?", nextStepIdOnInput: "more" } as const;
    const questions = await dryRun({ owner, plan: round(asks) });
    expect(questions).toMatchObject({ ok: false, stopped: expect.stringContaining(String(MAX_DRY_WAITS)) });
    expect(questions.waits).toHaveLength(MAX_DRY_WAITS);
  }, 60_000);

  it("shows arguments up to a length", async () => {
    const { dryRun } = world();
    const plan = planOf([
      call("short", "shop::find", { words: "x".repeat(MAX_SHOWN_CHARS - '{"words":""}'.length) }, "long"),
      call("long", "shop::find", { words: "x".repeat(MAX_SHOWN_CHARS) }, "larger"),
      call("larger", "shop::find", { words: "x".repeat(70_000) }),
    ]);
    const { calls } = await dryRun({ owner, plan });
    expect(calls.map((each) => "arguments" in each)).toEqual([true, false, false]);
  });
});

const from = (jsonPath: string): Json => ({ jsonPath });

function call(id: string, toolId: string, args: JsonObject = {}, nextStepId?: string): PlanStep {
  return { id, type: "tool_call", toolId, arguments: args, ...(nextStepId === undefined ? {} : { nextStepId }) };
}

function planOf(steps: PlanStep[]): AgenticPlan {
  return { planId: "dry", description: "", parameters: { type: "object" }, startStepId: steps[0]?.id ?? "", steps };
}

/** Leaves only for a value that no sample has. */
function round(step: PlanStep): AgenticPlan {
  const condition = { left: from("$.promptInput.never"), operator: "exists" } as const;
  return planOf([
    step,
    { id: "more", type: "conditional_branch", condition, onTrue: {}, onFalse: { nextStepId: "again" } },
  ]);
}

function world(policy?: ToolPolicy): { readonly dryRun: DryRun; readonly called: readonly string[] } {
  const called: string[] = [];
  const registry = new ToolRegistry();
  const clock = createSystemClock();
  const add = (id: string, definition: JsonObject): void => {
    const implementation = (): null => {
      called.push(id);
      return null;
    };
    const whole = { id, description: id, parameters: { type: "object" }, ...definition };
    registry.register({ definition: whole, implementation } as Parameters<typeof registry.register>[0]);
  };
  const item = { type: "object", properties: { sku: { type: "string", examples: ["A-1"] } }, required: ["sku"] };
  add("shop::find", {
    effects: "read",
    outputSchema: { type: "object", properties: { items: { type: "array", items: item } }, required: ["items"] },
  });
  add("shop::price", {
    outputSchema: { type: "object", properties: { cents: { type: "integer", minimum: 0 } }, required: ["cents"] },
  });
  add("shop::buy", {
    effects: "once",
    energyUnits: 3,
    parameters: { type: "object", properties: { cents: { type: "integer" } }, required: ["cents"] },
  });
  add("shop::open", { outputSchema: { type: "object" } });
  add("shop::odd", { outputSchema: { type: "string", pattern: "^[0-9]{3}$" } });
  const gate = createToolGate({ registry, clock, logger: silentLogger, ...(policy === undefined ? {} : { policy }) });
  const plans = { get: () => undefined, ids: () => [] };
  return { dryRun: createDryRun({ gate, registry, clock, ids: createIds({ clock }), plans }), called };
}
