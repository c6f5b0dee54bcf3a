import { describe, expect, it } from "vitest";
import { each } from "../../../testing/plans/plan-case.ts";
import { validatePlan } from "../validate-plan.ts";
import type { PlanEstimate } from "./estimate.ts";
import { call, demoRegistry, plan } from "./preflight.fixture.ts";

const registry = demoRegistry();
const estimate = (steps: readonly unknown[], input?: unknown): PlanEstimate =>
  validatePlan(plan(steps), { registry, ...(input === undefined ? {} : { input }) }).estimate;
const priced = (id: string, parts: object = {}): object =>
  call(id, { toolId: "lookUp", arguments: { personId: "p" }, ...parts });

describe("an estimate", () => {
  it("adds up the tools that can be reached", () => {
    expect(estimate([call("a", { nextStepId: "b" }), priced("b"), priced("lost")])).toEqual({
      energyUnits: 8,
      toolCalls: 2,
      atLeast: false,
    });
    expect(estimate([call("a", { toolId: "demo::nope" })])).toEqual({ energyUnits: 0, toolCalls: 1, atLeast: false });
  });

  it("multiplies loops by the length of the input's list, nested ones too", () => {
    const inner = each("m", "$.promptInput.rows[?@ > 1]", [priced("a") as never], { itemAlias: "x" });
    const loop = each("l", "$.promptInput.names", [inner]);
    expect(estimate([loop], { names: ["a", "b", "c"], rows: [1, 2, 3] })).toEqual({
      energyUnits: 42,
      toolCalls: 6,
      atLeast: false,
    });
    expect(estimate([loop], { names: [], rows: [1] })).toEqual({ energyUnits: 0, toolCalls: 0, atLeast: false });
  });

  it("counts once, and says so, where it cannot know how often", () => {
    const loop = each("l", "$.promptInput.names", [priced("a") as never]);
    expect(estimate([loop])).toEqual({ energyUnits: 7, toolCalls: 1, atLeast: true });
    expect(estimate([loop], { names: "none" })).toEqual({ energyUnits: 7, toolCalls: 1, atLeast: true });
    const condition = { left: { jsonPath: "$.history[3]" }, operator: "exists" };
    const back = { id: "b", type: "conditional_branch", condition, onTrue: {}, onFalse: { nextStepId: "a" } };
    expect(estimate([priced("a", { nextStepId: "b" }), back])).toEqual({ energyUnits: 7, toolCalls: 1, atLeast: true });
  });
});
