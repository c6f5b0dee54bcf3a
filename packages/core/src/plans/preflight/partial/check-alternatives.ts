import type { JsonObject } from "../../../schema/values/json.ts";
import { isList } from "../../pointer/json-shape.ts";
import {
  both,
  type Check,
  fail,
  MAX_CHECK_ISSUES,
  type Quiet,
  quietly,
  type ValueIssue,
  type Verdict,
} from "./check.ts";

/** The keywords that combine other schemas. */
export function checkAlternatives(check: Check, schema: JsonObject, value: unknown): Verdict {
  let verdict: Verdict = "valid";
  for (const part of listOf(schema["allOf"])) verdict = both(verdict, check.descend(check, part, value));
  if (isList(schema["anyOf"])) verdict = both(verdict, checkAnyOf(check, schema["anyOf"], value));
  if (isList(schema["oneOf"])) verdict = both(verdict, checkOneOf(check, schema["oneOf"], value));
  if (Object.hasOwn(schema, "not")) verdict = both(verdict, checkNot(check, schema["not"], value));
  if (Object.hasOwn(schema, "if")) verdict = both(verdict, checkIf(check, schema, value));
  return verdict;
}

function checkAnyOf(check: Check, parts: readonly unknown[], value: unknown): Verdict {
  const answers = parts.map((part) => quietly(check, () => check.descend(check, part, value)));
  if (parts.length === 0 || answers.some(({ verdict }) => verdict === "valid")) return "valid";
  if (answers.some(({ verdict }) => verdict === "unknown")) return "unknown";
  return noneFits(check, "anyOf", answers);
}

function checkOneOf(check: Check, parts: readonly unknown[], value: unknown): Verdict {
  const answers = parts.map((part) => quietly(check, () => check.descend(check, part, value)));
  const valid = answers.filter(({ verdict }) => verdict === "valid").length;
  if (valid > 1) return fail(check, "oneOf", `It fits ${String(valid)} of the forms that exclude each other.`);
  if (answers.some(({ verdict }) => verdict === "unknown")) return "unknown";
  return valid === 1 || parts.length === 0 ? "valid" : noneFits(check, "oneOf", answers);
}

/** When one form alone was meant, what is wrong with it says more than "none fits". */
function noneFits(check: Check, keyword: string, answers: readonly Quiet[]): Verdict {
  const meant = answers.filter(({ issues }) => !issues.some((issue) => excludes(check, issue)));
  const [only] = meant;
  if (meant.length === 1 && only !== undefined && only.issues.length > 0) {
    check.issues.push(...only.issues.slice(0, MAX_CHECK_ISSUES - check.issues.length));
    return "invalid";
  }
  return fail(check, keyword, `It fits none of the ${String(answers.length)} forms that are allowed here.`);
}

/** A wrong type, or a wrong fixed value in a direct field, says that another form was meant. */
function excludes(check: Check, { path, keyword }: ValueIssue): boolean {
  const depth = path.length - check.path.length;
  if (keyword === "type" || keyword === "enum") return depth === 0;
  return keyword === "const" && depth <= 1;
}

function checkNot(check: Check, schema: unknown, value: unknown): Verdict {
  const { verdict } = quietly(check, () => check.descend(check, schema, value));
  if (verdict === "unknown") return verdict;
  return verdict === "invalid" ? "valid" : fail(check, "not", "It has a form that is excluded here.");
}

function checkIf(check: Check, schema: JsonObject, value: unknown): Verdict {
  const { verdict } = quietly(check, () => check.descend(check, schema["if"], value));
  if (verdict === "unknown") return Object.hasOwn(schema, "then") || Object.hasOwn(schema, "else") ? verdict : "valid";
  const branch = schema[verdict === "valid" ? "then" : "else"];
  return branch === undefined ? "valid" : check.descend(check, branch, value);
}

function listOf(value: unknown): readonly unknown[] {
  return isList(value) ? value : [];
}
