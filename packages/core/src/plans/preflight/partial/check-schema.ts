import { canonicalJson } from "../../../schema/values/hash.ts";
import type { Json, JsonObject } from "../../../schema/values/json.ts";
import { didYouMean } from "../../../schema/values/suggest.ts";
import { CONVERTS_KEYWORD } from "../../../tools/adapt/zod-schema.ts";
import { followPointer, isSchemaObject } from "../../../tools/json-schema/walk-schema.ts";
import { isList, isObject } from "../../pointer/json-shape.ts";
import { checkArray } from "./check-array.ts";
import { checkAlternatives } from "./check-alternatives.ts";
import { checkObject } from "./check-object.ts";
import { checkNumber, checkString } from "./check-scalar.ts";
import { both, type Check, fail, type Gap, hasGap, type Verdict } from "./check.ts";
import { disjoint, jsonTypeOf, wordsFor } from "./json-type.ts";
import { typesOf } from "./schema-types.ts";

/** Schemas may refer to themselves; deeper than this the answer is `unknown`. */
const MAX_CHECK_DEPTH = 600;

/** One schema against the value at the check's path. */
export function checkSchema(check: Check, schema: unknown, value: unknown): Verdict {
  check.stepsLeft -= 1;
  if (check.stepsLeft < 0 || check.depth >= MAX_CHECK_DEPTH) return "unknown";
  if (schema === false) return fail(check, "false_schema", "Nothing is allowed here.");
  if (!isSchemaObject(schema)) return "valid";
  if (schema[CONVERTS_KEYWORD] === true) return "unknown";
  const gap = check.gapAt(value, check.path);
  if (gap !== undefined) return checkGap(check, schema, gap);
  check.depth += 1;
  const verdict = checkKeywords(check, schema, value);
  check.depth -= 1;
  return verdict;
}

function checkGap(check: Check, schema: JsonObject, { types, name }: Gap): Verdict {
  if (Object.keys(schema).length === 0) return "valid";
  if (types === undefined) return "unknown";
  const wanted = typesOf({ root: check.root, schema });
  if (!disjoint(types, wanted)) return "unknown";
  return fail(check, "gap", `${name} gives ${wordsFor(types)}; ${wordsFor(wanted)} is needed here.`);
}

function checkKeywords(check: Check, schema: JsonObject, value: unknown): Verdict {
  const type = checkType(check, schema, value);
  // The other keywords speak of the wanted type: after a wrong one they would only repeat it.
  if (type === "invalid") return type;
  let verdict = checkChoices(check, schema, value);
  if (typeof schema["$ref"] === "string") verdict = both(verdict, checkReference(check, schema["$ref"], value));
  if (typeof schema["$dynamicRef"] === "string") verdict = both(verdict, "unknown");
  if (typeof value === "string") verdict = both(verdict, checkString(check, schema, value));
  else if (typeof value === "number") verdict = both(verdict, checkNumber(check, schema, value));
  else if (isList(value)) verdict = both(verdict, checkArray(check, schema, value));
  else if (isObject(value)) verdict = both(verdict, checkObject(check, schema, value));
  return both(verdict, checkAlternatives(check, schema, value));
}

function checkType(check: Check, schema: JsonObject, value: unknown): Verdict {
  const { type } = schema;
  const names: readonly unknown[] = isList(type) ? type : [type];
  if (type === undefined || names.length === 0) return "valid";
  const actual = jsonTypeOf(value);
  if (schema["nullable"] === true && actual === "null") return "valid";
  for (const name of names) {
    if (name === actual || (name === "integer" && Number.isInteger(value))) return "valid";
  }
  const found = actual === "number" ? String(value) : wordsFor([actual]);
  return fail(check, "type", `It must be ${wordsFor(names.map(String))}, not ${found}.`);
}

function checkChoices(check: Check, schema: JsonObject, value: unknown): Verdict {
  let verdict: Verdict = "valid";
  if (Object.hasOwn(schema, "const")) verdict = oneOfThese(check, "const", [schema["const"]], value);
  if (isList(schema["enum"])) verdict = both(verdict, oneOfThese(check, "enum", schema["enum"], value));
  return verdict;
}

function oneOfThese(check: Check, keyword: string, choices: readonly unknown[], value: unknown): Verdict {
  check.stepsLeft -= choices.length;
  const isScalar = typeof value !== "object" || value === null;
  if (!isScalar && hasGap(check, value)) return "unknown";
  const found = isScalar
    ? choices.includes(value)
    : choices.some(
        (choice) => typeof choice === "object" && canonicalJson(choice as Json) === canonicalJson(value as Json),
      );
  if (found) return "valid";
  const listed = choices.slice(0, 20).map((choice) => JSON.stringify(choice).slice(0, 100));
  const needed = `It must be ${listed.length === 1 ? "" : "one of "}${listed.join(", ")}.`;
  return fail(check, keyword, `${needed}${meantChoice(check, choices, value)}`);
}

function meantChoice(check: Check, choices: readonly unknown[], value: unknown): string {
  if (typeof value !== "string" || choices.length === 1) return "";
  // A suggestion compares with every choice.
  check.stepsLeft -= choices.length;
  if (check.stepsLeft < 0) return "";
  return didYouMean(
    value,
    choices.filter((choice) => typeof choice === "string"),
  );
}

function checkReference(check: Check, reference: string, value: unknown): Verdict {
  const target = isSchemaObject(check.root) ? followPointer(check.root, reference) : undefined;
  return target === undefined ? "unknown" : checkSchema(check, target.value, value);
}
