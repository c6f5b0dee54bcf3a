import { describe, expect, it } from "vitest";
import { AgenticPlan } from "../../src/schema/plan.ts";
import { PLAN_CASES } from "./cases.ts";
import { give, planOf, when, worldOf } from "./plan-case.ts";
import { MAX_REFERENCE_VISITS, runReference } from "./reference.ts";

describe("the reference interpreter", () => {
  it.each(PLAN_CASES)("agrees with the contract: $name", ({ plan, input, world, initialContext, expected }) => {
    const { context, history, asked } = runReference(AgenticPlan.parse(plan), input, world, initialContext);
    expect(context).toEqual(expected.context);
    expect(history).toEqual(expected.history);
    expect(asked.map(({ message }) => message)).toEqual(expected.asked ?? []);
  });

  it("has a name of its own for every case", () => {
    expect(new Set(PLAN_CASES.map(({ name }) => name)).size).toBe(PLAN_CASES.length);
  });

  it("gives up on a plan that does not end", () => {
    const endless = planOf([when("if", { left: 1, operator: "equals", right: 1 }, "if", "out"), give("out", 1)]);
    expect(() => runReference(endless, {}, worldOf())).toThrow(String(MAX_REFERENCE_VISITS));
  });
});
