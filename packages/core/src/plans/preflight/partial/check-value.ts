/**
 * Checks a value with gaps against a JSON Schema. A gap stands for a value that is known only when the plan runs (a
 * pointer). Ajv does not replace it: Ajv is loaded asynchronously and preflight is synchronous; and without its errors at
 * or above a gap, Ajv misses what is certain inside `anyOf`, `if` and `contains` ("is certain inside alternatives" in the test).
 *
 * V1. `invalid` is certain: no filling of the gaps makes the value valid.
 * V2. A value without gaps is `valid` or `invalid`, as the gate's compiler says; where the schema uses what is not
 *     understood here (`unevaluated…`, references by name), it is `unknown`.
 * V3. Never throws, whatever the schema, and takes a bounded number of steps.
 */
import { copyJson, type Json } from "../../../schema/values/json.ts";
import { dialectOf } from "../../../tools/json-schema/dialect.ts";
import { safePattern, type SafePattern } from "../../../tools/json-schema/pattern.ts";
import { isSchemaObject } from "../../../tools/json-schema/walk-schema.ts";
import type { Check, GapAt, ValueIssue, Verdict } from "./check.ts";
import { checkSchema } from "./check-schema.ts";

/** A check that takes more steps than it is given answers `unknown`. */
export const MAX_CHECK_STEPS = 100_000;
export type CheckOptions = {
  readonly gapAt?: GapAt;
  /** Fields may be added to the value itself before it is used: one that is missing is then only possibly an issue. */
  readonly mayGrow?: boolean;
  /** Puts the schema's defaults where they are missing, as the gate does; the answer's value is a copy that has them. */
  readonly withDefaults?: boolean;
  readonly maxSteps?: number;
};

type CheckAnswer = {
  readonly verdict: Verdict;
  readonly issues: readonly ValueIssue[];
  readonly value: unknown;
  readonly steps: number;
  /** True when it took more steps than it may. */
  readonly exhausted: boolean;
};

export type ValueChecker = (value: unknown, options?: CheckOptions) => CheckAnswer;

/** A checker for one schema document. Patterns are compiled when they are first needed, and kept. */
export function createValueChecker(schema: unknown): ValueChecker {
  const dialect = (isSchemaObject(schema) ? dialectOf(schema) : undefined) ?? "2020-12";
  const patterns = new Map<string, SafePattern | undefined>();
  const pattern = (source: string): SafePattern | undefined => {
    if (!patterns.has(source)) {
      const answer = safePattern(source);
      patterns.set(source, answer.ok ? answer.pattern : undefined);
    }
    return patterns.get(source);
  };
  return (original, options = {}) => {
    const maxSteps = options.maxSteps ?? MAX_CHECK_STEPS;
    const withDefaults = options.withDefaults ?? false;
    const value = withDefaults ? copyJson(original as Json) : original;
    const check: Check = {
      root: schema,
      dialect,
      descend: checkSchema,
      pattern,
      gapAt: options.gapAt ?? noGap,
      mayGrow: options.mayGrow ?? false,
      fillDefaults: withDefaults,
      path: [],
      issues: [],
      stepsLeft: maxSteps,
      depth: 0,
      composite: 0,
    };
    const verdict = checkSchema(check, schema, value);
    const exhausted = check.stepsLeft < 0;
    return { verdict, issues: check.issues, value, steps: maxSteps - Math.max(check.stepsLeft, 0), exhausted };
  };
}

function noGap(): undefined {
  return undefined;
}
