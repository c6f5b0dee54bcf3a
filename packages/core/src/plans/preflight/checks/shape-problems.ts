import type { z } from "zod";
import { Condition, ContextValuePointer, Operator, RetryPolicy } from "../../../schema/plan.ts";
import { didYouMean, suggest } from "../../../schema/values/suggest.ts";
import { childPath } from "../../pointer/json-location.ts";
import { isObject } from "../../pointer/json-shape.ts";
import { jsonTypeOf, wordsFor } from "../partial/json-type.ts";
import type { Problems } from "../problems.ts";

export type ShapeIssues = {
  readonly issues: readonly z.core.$ZodIssue[];
  readonly raw: unknown;
  readonly path: string;
  /** The fields of the object itself. */
  readonly known: readonly string[];
};

/** Says what a schema found wrong with a plan or a step in words that name the field that was meant. */
export function shapeProblems(problems: Problems, { issues, raw, path, known }: ShapeIssues): void {
  for (const issue of issues) report(problems, issue, { raw, path, known, prefix: [] });
}

/** The field that a mistyped name meant. `next` means `nextStepId`, though they are far apart. */
export function meantField(name: string, known: readonly string[]): string | undefined {
  const near = suggest(name, known);
  if (near !== undefined || name.length < MIN_BEGINNING) return near;
  const wanted = name.toLowerCase();
  return known.find((each) => each.toLowerCase().startsWith(wanted) || wanted.startsWith(each.toLowerCase()));
}

const MIN_BEGINNING = 3;

type Place = {
  readonly raw: unknown;
  readonly path: string;
  readonly known: readonly string[];
  readonly prefix: readonly PropertyKey[];
};

function report(problems: Problems, issue: z.core.$ZodIssue, place: Place): void {
  const keys = [...place.prefix, ...issue.path];
  const at = keys.reduce<string>(
    (parent, key) => childPath(parent, typeof key === "number" ? key : String(key)),
    place.path,
  );
  const value = valueAt(place.raw, keys);
  const field = String(keys.findLast((key) => typeof key === "string") ?? "");
  if (issue.code === "unrecognized_keys") {
    const known = keys.length === 0 ? place.known : (NESTED_FIELDS[field] ?? []);
    for (const key of issue.keys) problems.error(childPath(at, key), "unknown_field", () => unknownField(key, known));
    return;
  }
  if (value === undefined) return problems.error(at, "missing_field", `"${field}" is required.`);
  if (issue.code === "invalid_union") {
    const inner = isObject(value) ? issue.errors.at(-1) : undefined;
    if (inner !== undefined && inner.length > 0) {
      for (const each of inner) report(problems, each, { ...place, prefix: keys });
      return;
    }
    return problems.error(at, "invalid_field", UNIONS[field] ?? "It has none of the forms that are allowed here.");
  }
  if (field === "operator") {
    return problems.error(at, "unknown_operator", () => unknownOperator(value));
  }
  const tooMany = issue.code === "too_big" && field === "branches";
  problems.error(at, tooMany ? "too_many_branches" : "invalid_field", wording(issue, field, value));
}

const POINTER_FIELDS = Object.keys(ContextValuePointer.shape);
const NESTED_FIELDS: Readonly<Record<string, readonly string[] | undefined>> = {
  condition: Object.keys(Condition.shape),
  retry: Object.keys(RetryPolicy.shape),
  onTrue: ["nextStepId"],
  onFalse: ["nextStepId"],
  collectionPath: POINTER_FIELDS,
  message: POINTER_FIELDS,
  branches: ["steps"],
};

const UNIONS: Readonly<Record<string, string | undefined>> = {
  message: 'It must be a text, or a pointer like {"jsonPath": "$.context.x"}.',
  parameters: "A JSON Schema is an object, true or false.",
  inputSchema: "A JSON Schema is an object, true or false.",
};

function unknownField(name: string, known: readonly string[]): string {
  const meant = meantField(name, known);
  if (meant !== undefined) return `"${name}" is not a field here. Did you mean "${meant}"?`;
  return `"${name}" is not a field here.${known.length === 0 ? "" : ` Known are: ${known.join(", ")}.`}`;
}

function unknownOperator(value: unknown): string {
  const name = JSON.stringify(value).slice(0, 100);
  const hint = typeof value === "string" ? didYouMean(value, Operator.options) : "";
  return `${name} is not an operator.${hint === "" ? ` The operators are ${Operator.options.join(", ")}.` : hint}`;
}

function wording(issue: z.core.$ZodIssue, field: string, value: unknown): string {
  switch (issue.code) {
    case "invalid_type": {
      const wanted = issue.expected === "int" ? "integer" : issue.expected === "record" ? "object" : issue.expected;
      const found = typeof value === "number" ? String(value) : wordsFor([jsonTypeOf(value)]);
      return `It must be ${wordsFor([wanted])}, not ${found}.`;
    }
    case "invalid_format": {
      const allowed =
        field === "saveAs" || field === "itemAlias"
          ? KEY_FORM
          : field === "toolId" || field === "alternatives"
            ? issue.message
            : ID_FORM;
      return `${JSON.stringify(value).slice(0, 200)} cannot be used here: ${allowed}.`;
    }
    case "custom":
      return `It holds ${issue.message}.`;
    default:
      return `${issue.message}.`;
  }
}

const ID_FORM = "an id has letters, digits, '_', '.', ':' and '-', and starts with a letter or a digit";
const KEY_FORM = "a key has letters, digits, '_', '.', ':' and '-', and starts with a letter or a single '_'";

function valueAt(raw: unknown, keys: readonly PropertyKey[]): unknown {
  let value = raw;
  for (const key of keys) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}
