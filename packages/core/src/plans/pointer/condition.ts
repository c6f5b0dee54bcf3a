import { planError } from "../../errors/plan.ts";
import type { Condition, Operator } from "../../schema/plan.ts";
import { jsonEqual } from "./json-equal.ts";
import { isList, isObject } from "./json-shape.ts";
import { compilePattern, matchesPattern } from "./pattern.ts";
import { type Found, type Needs, needs, seek } from "./resolve.ts";
import { type CompiledTemplate, compileTemplate, fill } from "./template.ts";
import type { PointerView } from "./view.ts";
import { createWalk, type Walk } from "./walk.ts";

/*
 * | operator                    | is true when                                      | an absent side | other types      |
 * |-----------------------------|---------------------------------------------------|----------------|------------------|
 * | equals                      | the sides are deeply equal; key order is ignored  | false          | false            |
 * | not_equals                  | equals is false                                   | true           | true             |
 * | greater_than, less_than,    | two numbers, or two strings (ISO dates sort as    | false          | `condition_type` |
 * | greater_or_equal,           | text), stand in that order                        |                |                  |
 * | less_or_equal               |                                                   |                |                  |
 * | exists                      | the pointer `left` finds a node; null is one      | false          | a literal left   |
 * |                             |                                                   |                | `condition_type` |
 * | not_exists                  | it finds none                                     | true           | the same         |
 * | contains                    | array `left` has an element equal to `right`,     | false          | false            |
 * |                             | string `left` has the string `right` in it,       |                |                  |
 * |                             | object `left` has the key `right`                 |                |                  |
 * | in                          | `right` contains `left`                           | false          | false            |
 * | matches                     | the pattern `right` is found in the string `left` | false          | false            |
 *
 * An absent side equals nothing, not even another absent side. A query that finds nothing gives [], which is there;
 * for `exists` it is absent. A pointer's `default` fills an absent side, except for `exists` and `not_exists`, which
 * ask about the pointer itself.
 */

export type CompiledCondition = {
  readonly operator: Operator;
  readonly left: CompiledTemplate;
  readonly right: CompiledTemplate;
};

/** Throws what `compileTemplate` throws, `condition_type` for `exists` of a literal, `plan_invalid`, `pattern_invalid`. */
export function compileCondition(condition: Condition): CompiledCondition {
  const { operator } = condition;
  const left = compileTemplate(condition.left);
  const right = compileTemplate(condition.right ?? null);
  if (asksForExistence(operator) && left.kind !== "pointer") {
    throw planError(
      "condition_type",
      `"${operator}" needs a pointer on its left side, like {"jsonPath": "$.context.x"}.`,
      {
        details: { operator, left: typeName(condition.left) },
      },
    );
  }
  if (!asksForExistence(operator) && condition.right === undefined) {
    throw planError("plan_invalid", `"${operator}" needs a right side.`, { details: { operator } });
  }
  if (operator === "matches" && right.kind === "literal" && typeof right.value === "string") {
    compilePattern(right.value, "anywhere");
  }
  return { operator, left, right };
}

/** Throws `condition_type` {operator, left, right}, and what resolving its sides throws. */
export function evaluateCondition(condition: CompiledCondition, view: PointerView): Found<boolean> | Needs {
  const walk = createWalk(view);
  const { operator } = condition;
  if (asksForExistence(operator)) {
    const found = exists(walk, condition.left);
    return walk.misses > 0 ? needs(walk) : { kind: "value", value: found === (operator === "exists") };
  }
  const left = side(walk, condition.left);
  const right = side(walk, condition.right);
  return walk.misses > 0 ? needs(walk) : { kind: "value", value: holds(operator, left, right) };
}

function asksForExistence(operator: Operator): operator is "exists" | "not_exists" {
  return operator === "exists" || operator === "not_exists";
}

function exists(walk: Walk, template: CompiledTemplate): boolean {
  if (template.kind !== "pointer") return true;
  return seek(walk, template.pointer, { first: true, deref: "through" }) !== undefined;
}

/** undefined when the side is a pointer that finds nothing. */
function side(walk: Walk, template: CompiledTemplate): unknown {
  if (template.kind !== "pointer" || template.fallback !== undefined) return fill(walk, template, {});
  return seek(walk, template.pointer, { first: template.first });
}

type Comparing = Exclude<Operator, "exists" | "not_exists">;

function holds(operator: Comparing, left: unknown, right: unknown): boolean {
  const absent = left === undefined || right === undefined;
  if (operator === "equals") return !absent && jsonEqual(left, right);
  if (operator === "not_equals") return absent || !jsonEqual(left, right);
  if (absent) return false;
  const answer = ask(operator, left, right);
  if (answer !== undefined) return answer;
  const types = { left: typeName(left), right: typeName(right) };
  throw planError("condition_type", `"${operator}" cannot compare ${types.left} with ${types.right}.`, {
    details: { operator, ...types },
  });
}

/** undefined when the operator does not know these types. */
function ask(
  operator: Exclude<Comparing, "equals" | "not_equals">,
  left: unknown,
  right: unknown,
): boolean | undefined {
  switch (operator) {
    case "contains":
      return contains(left, right);
    case "in":
      return contains(right, left);
    case "matches":
      return typeof left === "string" && typeof right === "string" && matchesPattern(left, right);
    case "greater_than":
    case "less_than":
    case "greater_or_equal":
    case "less_or_equal": {
      const order = compare(left, right);
      return order === undefined ? undefined : ORDERS[operator](order);
    }
  }
}

const ORDERS = {
  greater_than: (order: number) => order > 0,
  less_than: (order: number) => order < 0,
  greater_or_equal: (order: number) => order >= 0,
  less_or_equal: (order: number) => order <= 0,
};

function compare(left: unknown, right: unknown): number | undefined {
  if (typeof left === "number" && typeof right === "number") return left - right;
  if (typeof left !== "string" || typeof right !== "string") return undefined;
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function contains(whole: unknown, part: unknown): boolean {
  if (isList(whole)) return whole.some((item) => jsonEqual(item, part));
  if (typeof part !== "string") return false;
  if (typeof whole === "string") return whole.includes(part);
  return isObject(whole) && Object.hasOwn(whole, part);
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return isList(value) ? "array" : typeof value;
}
