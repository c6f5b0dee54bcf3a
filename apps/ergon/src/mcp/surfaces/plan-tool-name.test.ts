import { PlanId } from "@ergon/core/schema";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_TOOL_NAME, planToolName } from "./plan-tool-name.ts";

const Id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/).filter((id) => PlanId.safeParse(id).success);

describe("a plan's tool", () => {
  it("has the plan's own name where clients take it", () => {
    expect(planToolName("review_text")).toBe("plan_review_text");
    expect(planToolName("a".repeat(MAX_TOOL_NAME - 5))).toBe(`plan_${"a".repeat(MAX_TOOL_NAME - 5)}`);
  });

  it("has a name that every client takes, whatever the plan is called", () => {
    fc.assert(fc.property(Id, (id) => /^plan_[A-Za-z0-9_-]{1,59}$/.test(planToolName(id))));
  });

  it("shares it with no other plan", () => {
    const names = ["a.b", "a:b", "a_b", "a-b", "x".repeat(60), "x".repeat(61)].map(planToolName);
    expect(new Set(names).size).toBe(names.length);
  });
});
