import { describe, expect, it } from "vitest";
import { call, messages, plan, said } from "../preflight.fixture.ts";

const when = (condition: object, parts: object = {}): unknown =>
  plan([{ id: "if", type: "conditional_branch", condition, onTrue: {}, onFalse: {} }], parts);
const x = { jsonPath: "$.promptInput.x" };

describe("a condition", () => {
  it.each([
    [
      { left: x, operator: "equal", right: 1 },
      "error unknown_operator $.steps[0].condition.operator",
      'Did you mean "equals"?',
    ],
    [
      { left: x, operator: "~", right: 1 },
      "error unknown_operator $.steps[0].condition.operator",
      "The operators are equals",
    ],
    [{ operator: "equals", right: 1 }, "error missing_field $.steps[0].condition.left", '"left" is required'],
    [{ left: x, operator: "less_than" }, "error missing_right $.steps[0].condition.right", "needs a right side"],
    [{ left: 3, operator: "exists" }, "error condition_type $.steps[0].condition.left", "needs a pointer"],
    [{ left: x, operator: "matches", right: "(a" }, "error pattern_invalid $.steps[0].condition.right", "not valid"],
    [{ left: x, operator: "matches", right: "(?=a)" }, "error pattern_invalid $.steps[0].condition.right", "not valid"],
    [
      { left: 3, operator: "less_than", right: "4" },
      "error condition_type $.steps[0].condition",
      "two numbers or two strings",
    ],
    [
      { left: x, operator: "less_than", right: true },
      "warning condition_type $.steps[0].condition",
      "two numbers or two strings",
    ],
    [{ left: x, operator: "in", right: 3 }, "warning condition_constant $.steps[0].condition", "always false"],
    [{ left: x, operator: "matches", right: 3 }, "warning condition_constant $.steps[0].condition", "always false"],
    [
      { left: "abc", operator: "contains", right: 3 },
      "warning condition_constant $.steps[0].condition",
      "always false",
    ],
    [
      { left: x, operator: "equals", right: 3, rihgt: 4 },
      "error unknown_field $.steps[0].condition.rihgt",
      'Did you mean "right"?',
    ],
  ])("%j: %s", (condition, line, message) => {
    const [, code = ""] = line.split(" ");
    expect(said(when(condition))).toEqual([line]);
    expect(messages(when(condition), code)[0]).toContain(message);
  });

  it.each([
    { left: x, operator: "equals", right: null },
    { left: x, operator: "less_than", right: "4" },
    { left: 3, operator: "greater_or_equal", right: 4 },
    { left: [1, x], operator: "contains", right: 3 },
    { left: "a", operator: "in", right: { a: 1 } },
    { left: x, operator: "not_exists" },
    { left: x, operator: "matches", right: "^a+$" },
    { left: { jsonPath: "$.promptInput.s", default: 1 }, operator: "less_than", right: 3 },
  ])("%j can be asked", (condition) => {
    expect(said(when(condition, { parameters: { properties: { x: {}, s: { type: "string" } } } }))).toEqual([]);
  });

  it("knows the types of pointers", () => {
    const parameters = { type: "object", properties: { x: { type: "boolean" } } };
    expect(said(when({ left: x, operator: "less_than", right: 3 }, { parameters }))).toEqual([
      "warning condition_type $.steps[0].condition",
    ]);
    const rows = { jsonPath: "$.history[0:3].toolId" };
    expect(said(when({ left: rows, operator: "greater_than", right: 3 }))).toEqual([
      "warning condition_type $.steps[0].condition",
    ]);
    expect(said(plan([call("a")]))).toEqual([]);
  });
});
