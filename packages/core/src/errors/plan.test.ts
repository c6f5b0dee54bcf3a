import { describe, expect, it } from "vitest";
import { MAX_PLANS_NAMED, planNotFound } from "./plan.ts";

const plans = (count: number): string[] => Array.from({ length: count }, (_, n) => `plan_${String(n)}`);

describe("planNotFound", () => {
  it("says which plan was probably meant", () => {
    expect(planNotFound("plan_x", ["plan_1", "other"]).message).toBe(
      'There is no plan "plan_x". Did you mean "plan_1"?',
    );
  });

  it("names the plans that there are when none is near, up to so many", () => {
    expect(planNotFound("zzz", ["a_plan", "b_plan"]).message).toBe(
      'There is no plan "zzz". There are: a_plan, b_plan.',
    );
    expect(planNotFound("zzz", plans(MAX_PLANS_NAMED)).message).toContain("There are: plan_0");
    expect(planNotFound("zzz", plans(MAX_PLANS_NAMED + 1)).message).toBe('There is no plan "zzz".');
    expect(planNotFound("zzz", []).message).toBe('There is no plan "zzz".');
  });
});
