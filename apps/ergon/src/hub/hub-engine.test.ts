import { describe, expect, it } from "vitest";
import { toolsIn } from "./hub-engine.ts";

describe("the tools that a plan names", () => {
  it("are found at any depth, alternatives included", () => {
    const plan = {
      planId: "p",
      steps: [
        { id: "a", type: "tool_call", toolId: "x_one", alternatives: ["x_two"] },
        { id: "b", type: "loop_over_items", loopPlan: [{ id: "c", type: "tool_call", toolId: "y_three" }] },
        { id: "d", type: "parallel_branch", branches: [[{ id: "e", toolId: "x_one" }]] },
      ],
    };
    expect(toolsIn(plan).sort()).toEqual(["x_one", "x_two", "y_three"]);
  });

  it.each([undefined, null, 7, "text", [], { toolId: 5, alternatives: [1, null] }])("are none in %j", (plan) => {
    expect(toolsIn(plan)).toEqual([]);
  });
});
