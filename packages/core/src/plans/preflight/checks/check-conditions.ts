import type { Condition, Operator } from "../../../schema/plan.ts";
import { isErgonError } from "../../../errors/ergon-error.ts";
import { childPath } from "../../pointer/json-location.ts";
import { compilePattern } from "../../pointer/pattern.ts";
import { asPointer } from "../../pointer/template.ts";
import type { StepNode } from "../outline.ts";
import { disjoint, jsonTypeOf, wordsFor, type JsonType } from "../partial/json-type.ts";
import type { Problems } from "../problems.ts";

/** The types of a side that is a pointer, where they are known. */
export type SideTypes = (path: string) => ReadonlySet<JsonType> | undefined;

/** Whether a condition can be asked at all. */
export function checkCondition(node: StepNode, typesAt: SideTypes, problems: Problems): void {
  if (node.form?.type !== "conditional_branch") return;
  const { condition } = node.form;
  const { left, operator, right } = condition;
  const path = childPath(node.path, "condition");
  const at = { left: childPath(path, "left"), right: childPath(path, "right") };
  if (operator === "exists" || operator === "not_exists") {
    if (asPointer(left) === undefined) {
      const message = `"${operator}" needs a pointer on its left side, like {"jsonPath": "$.context.x"}.`;
      problems.error(at.left, "condition_type", message);
    }
    return;
  }
  if (right === undefined) return problems.error(at.right, "missing_right", `"${operator}" needs a right side.`);
  if (operator === "matches" && typeof right === "string") checkPattern(right, at.right, problems);
  const sides = { left: typesOf(left, at.left, typesAt), right: typesOf(right, at.right, typesAt) };
  checkTypes({ condition, path, ...sides }, problems);
}

function checkPattern(pattern: string, path: string, problems: Problems): void {
  try {
    compilePattern(pattern, "anywhere");
  } catch (thrown) {
    if (!isErgonError(thrown)) throw thrown;
    problems.error(path, thrown.code, thrown.message);
  }
}

function typesOf(side: unknown, path: string, typesAt: SideTypes): ReadonlySet<JsonType> | undefined {
  const pointer = asPointer(side);
  if (pointer === undefined) return new Set([jsonTypeOf(side)]);
  const types = typesAt(path);
  if (types === undefined || pointer.fallback === undefined) return types;
  return new Set([...types, jsonTypeOf(pointer.fallback.value)]);
}

type Sides = {
  readonly condition: Condition;
  readonly path: string;
  readonly left: ReadonlySet<JsonType> | undefined;
  readonly right: ReadonlySet<JsonType> | undefined;
};

function checkTypes({ condition, path, left, right }: Sides, problems: Problems): void {
  const { operator } = condition;
  const rule = RULES[operator];
  if (rule === undefined || (left === undefined && right === undefined)) return;
  if (rule.fits(left ?? ANY, right ?? ANY)) return;
  const words = {
    left: left === undefined ? "anything" : wordsFor(left),
    right: right === undefined ? "anything" : wordsFor(right),
  };
  const message = `"${operator}" cannot compare ${words.left} with ${words.right}: ${rule.needs}.`;
  const isCertain = asPointer(condition.left) === undefined && asPointer(condition.right) === undefined;
  if (!rule.fails) problems.warning(path, "condition_constant", `${message} It is always false.`);
  else problems.add(isCertain ? "error" : "warning", { path, code: "condition_type", message });
}

const ANY: ReadonlySet<JsonType> = new Set<JsonType>(["string", "number", "boolean", "null", "array", "object"]);
const ORDERED: ReadonlySet<JsonType> = new Set<JsonType>(["string", "number"]);
const HOLDERS: ReadonlySet<JsonType> = new Set<JsonType>(["string", "array", "object"]);

type Rule = {
  readonly needs: string;
  /** Whether other types make the step fail; else the answer is false. An absent side is false for all. */
  readonly fails: boolean;
  readonly fits: (left: ReadonlySet<JsonType>, right: ReadonlySet<JsonType>) => boolean;
};

const ordering: Rule = {
  needs: "it takes two numbers or two strings",
  fails: true,
  fits: (left, right) => [...ORDERED].some((type) => left.has(type) && right.has(type)),
};
const holds = (whole: ReadonlySet<JsonType>, part: ReadonlySet<JsonType>): boolean =>
  whole.has("array") || (!disjoint(whole, HOLDERS) && part.has("string"));

const RULES: Partial<Record<Operator, Rule>> = {
  greater_than: ordering,
  less_than: ordering,
  greater_or_equal: ordering,
  less_or_equal: ordering,
  contains: { needs: "a list, a text or an object contains a value, a text or a name", fails: false, fits: holds },
  in: {
    needs: "a list, a text or an object is needed on the right",
    fails: false,
    fits: (left, right) => holds(right, left),
  },
  matches: {
    needs: "it takes a text and a pattern",
    fails: false,
    fits: (left, right) => left.has("string") && right.has("string"),
  },
};
