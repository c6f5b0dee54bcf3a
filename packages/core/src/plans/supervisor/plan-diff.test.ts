import { describe, expect, it } from "vitest";
import { callStep, planOf } from "../../../testing/engine/engine-world.ts";
import { argumentChanges, MAX_CHANGES, MAX_FROM_LENGTH, removed, stepLocation } from "./plan-diff.ts";

describe("the diff of a plan", () => {
  it("names where a step stands, however deep", () => {
    const plan = planOf("p", [
      {
        id: "both",
        type: "parallel_branch",
        branches: [
          { steps: [callStep("a", "t::a")] },
          {
            steps: [
              callStep("b", "t::b", {}, "each"),
              {
                id: "each",
                type: "loop_over_items",
                collectionPath: { jsonPath: "$.promptInput.items" },
                itemAlias: "item",
                loopPlan: [callStep("c", "t::c")],
              },
            ],
          },
        ],
      },
    ]);
    expect(stepLocation(plan, "both")).toEqual(["steps", 0]);
    expect(stepLocation(plan, "c")).toEqual(["steps", 0, "branches", 1, "steps", 1, "loopPlan", 0]);
    expect(() => stepLocation(plan, "d")).toThrow('no step "d"');
  });

  it("tells what was added, removed and replaced, and nothing else", () => {
    const before = { same: [1, { a: 2 }], gone: null, deep: { x: "1", y: 2 }, "a/b": 1 };
    const after = { same: [1, { a: 2 }], deep: { x: 1, y: 2 }, "a/b": 2, more: [] };
    expect(argumentChanges(["steps", 0, "arguments"], before, after)).toEqual([
      { op: "remove", path: "/steps/0/arguments/gone", from: null },
      { op: "replace", path: "/steps/0/arguments/deep/x", from: "1", value: 1 },
      { op: "replace", path: "/steps/0/arguments/a~1b", from: 1, value: 2 },
      { op: "add", path: "/steps/0/arguments/more", value: [] },
    ]);
  });

  it.each([
    [MAX_CHANGES, MAX_CHANGES],
    [MAX_CHANGES + 1, 1],
  ])("tells %i changes in %i", (count, told) => {
    const numbers = Array.from({ length: count }, (_, n) => n);
    const before = Object.fromEntries(numbers.map((n) => [`k${String(n)}`, String(n)]));
    const after = Object.fromEntries(numbers.map((n) => [`k${String(n)}`, n]));
    expect(argumentChanges(["arguments"], before, after)).toHaveLength(told);
  });

  it("leaves out what stood there when that is long", () => {
    const fits = "x".repeat(MAX_FROM_LENGTH - 2);
    expect(removed(["a"], fits)).toEqual({ op: "remove", path: "/a", from: fits });
    expect(removed(["a"], `${fits}x`)).toEqual({ op: "remove", path: "/a" });
  });
});
