import type { Json } from "../../src/schema/values/json.ts";
import type { Condition, Operator } from "../../src/schema/plan.ts";
import { at, finish, planOf, when, worldOf, type PlanCase } from "./plan-case.ts";

const INPUT = {
  n: 2,
  s: "b",
  zero: 0,
  nil: null,
  list: [1, "x", { a: [1] }],
  object: { a: 1, b: { c: 2 } },
  text: "hello",
};
const absent = at("$.context.nope");

type Row = readonly [left: Json, operator: Operator, right: Json | undefined, holds: boolean];

const ROWS: readonly Row[] = [
  [at("$.promptInput.n"), "equals", 2, true],
  [at("$.promptInput.n"), "equals", "2", false],
  [at("$.promptInput.object"), "equals", { b: { c: 2 }, a: 1 }, true],
  [at("$.promptInput.object"), "equals", { a: 1 }, false],
  [at("$.promptInput.list"), "equals", [1, "x", { a: [1] }], true],
  [at("$.promptInput.list"), "equals", ["x", 1, { a: [1] }], false],
  [at("$.promptInput.list[?@ == 1]"), "equals", [1], true],
  [at("$.promptInput.list[?@ == 1]"), "equals", 1, false],
  [{ jsonPath: "$.promptInput.list[?@ == 1]", first: true }, "equals", 1, true],
  [{ jsonPath: "$.context.nope", default: 1 }, "equals", 1, true],
  [[at("$.promptInput.n"), { k: at("$.promptInput.s") }], "equals", [2, { k: "b" }], true],
  [at("$.promptInput.nil"), "equals", null, true],
  [at("$.promptInput.zero"), "equals", false, false],
  [absent, "equals", null, false],
  [absent, "equals", absent, false],
  [absent, "not_equals", absent, true],
  [absent, "not_equals", 1, true],
  [at("$.promptInput.n"), "not_equals", 2, false],
  [at("$.promptInput.n"), "greater_than", 1, true],
  [at("$.promptInput.n"), "greater_than", 2, false],
  [at("$.promptInput.n"), "greater_or_equal", 2, true],
  [at("$.promptInput.n"), "less_than", 2, false],
  [at("$.promptInput.n"), "less_or_equal", 2, true],
  [at("$.promptInput.s"), "less_than", "c", true],
  [at("$.promptInput.s"), "greater_than", "aa", true],
  [at("$.promptInput.n"), "less_than", 10, true],
  ["2", "less_than", "10", false],
  [absent, "less_than", 10, false],
  [10, "greater_or_equal", absent, false],
  [at("$.promptInput.n"), "exists", undefined, true],
  [at("$.promptInput.nil"), "exists", undefined, true],
  [absent, "exists", undefined, false],
  [absent, "not_exists", undefined, true],
  [at("$.promptInput.list[?@ == 9]"), "exists", undefined, false],
  [at("$.promptInput.list[?@ == 'x']"), "exists", undefined, true],
  [at("$.history[0]"), "not_exists", undefined, true],
  [at("$.promptInput.list"), "contains", "x", true],
  [at("$.promptInput.list"), "contains", { a: [1] }, true],
  [at("$.promptInput.list"), "contains", [1], false],
  [at("$.promptInput.text"), "contains", "ell", true],
  [at("$.promptInput.text"), "contains", "ELL", false],
  [at("$.promptInput.object"), "contains", "a", true],
  [at("$.promptInput.object"), "contains", "c", false],
  [at("$.promptInput.object"), "contains", "toString", false],
  ["x", "in", at("$.promptInput.list"), true],
  ["y", "in", at("$.promptInput.list"), false],
  ["ell", "in", at("$.promptInput.text"), true],
  ["b", "in", at("$.promptInput.object"), true],
  [at("$.promptInput.text"), "matches", "l+o$", true],
  [at("$.promptInput.text"), "matches", "^ello", false],
  [at("$.promptInput.n"), "matches", "2", false],
  [absent, "matches", "", false],
];

/** Every operator, and what it does with nothing. */
export const CONDITION_CASES: readonly PlanCase[] = ROWS.map(([left, operator, right, holds]) => {
  const condition: Condition = right === undefined ? { left, operator } : { left, operator, right };
  const words = [left, operator, right].filter((each) => each !== undefined).map((each) => JSON.stringify(each));
  return {
    name: `${words.join(" ")} is ${String(holds)}`,
    rule: "operators equals, not_equals, greater_than, less_than, greater_or_equal, less_or_equal, exists, not_exists, contains, in, matches",
    plan: planOf([when("if", condition, "yes", "no"), finish("yes", "yes"), finish("no", "no")]),
    input: INPUT,
    world: worldOf(),
    expected: { context: { finalResponse: holds ? "yes" : "no" }, history: [] },
  };
});
