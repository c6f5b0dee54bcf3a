import type { Dialect } from "../../../tools/json-schema/dialect.ts";
import type { SafePattern } from "../../../tools/json-schema/pattern.ts";
import { isList, isObject } from "../../pointer/json-shape.ts";
import type { JsonType } from "./json-type.ts";

/** One check names at most this many issues. */
export const MAX_CHECK_ISSUES = 50;

export type ValueIssue = {
  readonly path: readonly (string | number)[];
  /** The keyword that is violated, or `gap` for a gap whose types do not fit. */
  readonly keyword: string;
  readonly message: string;
  /** `possible` for what only a run can decide. */
  readonly certainty: "certain" | "possible";
};

/** The types that a gap can have, where they are known, and what to call it. */
export type Gap = { readonly types: ReadonlySet<JsonType> | undefined; readonly name: string };
export type GapAt = (value: unknown, path: readonly (string | number)[]) => Gap | undefined;

/** The state of one check. */
export type Check = {
  readonly root: unknown;
  readonly dialect: Dialect;
  /** Checks one schema against the value at the path; the keywords that hold schemas call it. */
  readonly descend: (check: Check, schema: unknown, value: unknown) => Verdict;
  /** Undefined for a pattern that cannot be run safely. */
  readonly pattern: (source: string) => SafePattern | undefined;
  readonly gapAt: GapAt;
  readonly mayGrow: boolean;
  readonly fillDefaults: boolean;
  /** Where the value stands; pushed and popped on the way. */
  readonly path: (string | number)[];
  issues: ValueIssue[];
  stepsLeft: number;
  depth: number;
  /** How many alternatives are open: inside one, defaults do not count. */
  composite: number;
};

/** What is known of a value with gaps: `unknown` may turn out either way once the gaps are filled. */
export type Verdict = "valid" | "invalid" | "unknown";

/** All must hold. */
export function both(a: Verdict, b: Verdict): Verdict {
  if (a === "invalid" || b === "invalid") return "invalid";
  return a === "unknown" || b === "unknown" ? "unknown" : "valid";
}

/** Says that the value at the check's path is wrong. */
export function fail(check: Check, keyword: string, message: string): Verdict {
  note(check, { keyword, message, certainty: "certain", path: check.path });
  return "invalid";
}

export function note(check: Check, issue: ValueIssue): void {
  if (check.issues.length < MAX_CHECK_ISSUES) check.issues.push({ ...issue, path: [...issue.path] });
}

/** The value one level down. */
export function checkChild(check: Check, key: string | number, schema: unknown, value: unknown): Verdict {
  check.path.push(key);
  const verdict = check.descend(check, schema, value);
  check.path.pop();
  return verdict;
}

export type Quiet = { readonly verdict: Verdict; readonly issues: readonly ValueIssue[] };

/** Asks without reporting; inside, defaults do not count, as for the gate's compiler. */
export function quietly(check: Check, ask: () => Verdict): Quiet {
  const { issues } = check;
  check.issues = [];
  check.composite += 1;
  const verdict = ask();
  check.composite -= 1;
  const found = check.issues;
  check.issues = issues;
  return { verdict, issues: found };
}

/** Whether fields may be added to the value at the check's path before it is used. */
export function canGrow(check: Check): boolean {
  return check.mayGrow && check.path.length === 0;
}

/** Whether any part of the value is not known yet. */
export function hasGap(check: Check, value: unknown): boolean {
  if (canGrow(check) && isObject(value)) return true;
  return holdsGap(check, value);
}

function holdsGap(check: Check, value: unknown): boolean {
  check.stepsLeft -= 1;
  if (check.stepsLeft < 0 || check.gapAt(value, check.path) !== undefined) return true;
  if (isList(value)) return value.some((item) => holdsGap(check, item));
  return isObject(value) && Object.values(value).some((item) => holdsGap(check, item));
}
