import { fullFormats } from "ajv-formats/dist/formats.js";
import type { JsonObject } from "../../../schema/values/json.ts";
import { both, type Check, fail, type Verdict } from "./check.ts";

export function checkNumber(check: Check, schema: JsonObject, value: number): Verdict {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  let verdict: Verdict = "valid";
  const need = (holds: boolean, keyword: string, message: string): void => {
    if (!holds) verdict = fail(check, keyword, message);
  };
  if (typeof minimum === "number") need(value >= minimum, "minimum", `It must be ${String(minimum)} or more.`);
  if (typeof maximum === "number") need(value <= maximum, "maximum", `It must be ${String(maximum)} or less.`);
  if (typeof exclusiveMinimum === "number") {
    need(value > exclusiveMinimum, "exclusiveMinimum", `It must be more than ${String(exclusiveMinimum)}.`);
  }
  if (typeof exclusiveMaximum === "number") {
    need(value < exclusiveMaximum, "exclusiveMaximum", `It must be less than ${String(exclusiveMaximum)}.`);
  }
  if (typeof multipleOf === "number" && multipleOf > 0) {
    const times = value / multipleOf;
    need(
      Math.abs(Math.round(times) - times) <= PRECISION,
      "multipleOf",
      `It must be a multiple of ${String(multipleOf)}.`,
    );
  }
  return both(verdict, checkFormat(check, schema["format"], value));
}

export function checkString(check: Check, schema: JsonObject, value: string): Verdict {
  const { minLength, maxLength, pattern } = schema;
  let verdict: Verdict = "valid";
  if (typeof minLength === "number" || typeof maxLength === "number") {
    const length = codePoints(value);
    if (typeof minLength === "number" && length < minLength) {
      verdict = fail(check, "minLength", `It must have ${String(minLength)} characters or more.`);
    }
    if (typeof maxLength === "number" && length > maxLength) {
      verdict = fail(check, "maxLength", `It must have ${String(maxLength)} characters or fewer.`);
    }
  }
  if (typeof pattern === "string") verdict = both(verdict, checkPattern(check, pattern, value));
  return both(verdict, checkFormat(check, schema["format"], value));
}

/** The gate's compiler is told the same precision. */
const PRECISION = 1e-9;

function checkPattern(check: Check, source: string, value: string): Verdict {
  check.stepsLeft -= 1 + (value.length >> 6);
  const pattern = check.pattern(source);
  if (pattern === undefined || check.stepsLeft < 0) return "unknown";
  return pattern.test(value) ? "valid" : fail(check, "pattern", `It must match the pattern ${JSON.stringify(source)}.`);
}

/** The same definitions that the gate's compiler has; a format that is not among them is an annotation. */
function checkFormat(check: Check, name: unknown, value: string | number): Verdict {
  if (typeof name !== "string" || !Object.hasOwn(FORMATS, name)) return "valid";
  const format = FORMATS[name];
  if (format === undefined || typeof format === "boolean") return "valid";
  const forNumbers = !(format instanceof RegExp) && typeof format === "object" && format.type === "number";
  if (forNumbers !== (typeof value === "number")) return "valid";
  check.stepsLeft -= 1 + (typeof value === "string" ? value.length >> 6 : 0);
  if (check.stepsLeft < 0) return "unknown";
  const test = format instanceof RegExp || typeof format === "function" ? format : format.validate;
  return passes(test, value) ? "valid" : fail(check, "format", `It must be a valid ${name}.`);
}

type Test = RegExp | ((value: never) => unknown);
type Format = boolean | Test | { readonly type?: string; readonly validate: Test };

const FORMATS = fullFormats as unknown as Readonly<Record<string, Format | undefined>>;

function passes(test: Test, value: string | number): boolean {
  if (test instanceof RegExp) {
    test.lastIndex = 0;
    return test.test(String(value));
  }
  return test(value as never) === true;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
