/*
 * A value that fits a JSON Schema, always the same one: what the schema itself gives (const, enum, default, examples)
 * where it gives something, else the plainest value of its type. Objects have every field that is declared and lists have
 * one item, so that what reads them finds something to read.
 */
import type { Json, JsonObject, JsonSchema } from "../../schema/values/json.ts";
import { compileJsonSchema } from "./compile.ts";
import { followPointer, isSchemaObject } from "./walk-schema.ts";

/** A sample has at most so many values, so deep; beyond that optional parts are left out. */
const MAX_SAMPLE_VALUES = 10_000;
const MAX_SAMPLE_DEPTH = 24;
const MAX_SAMPLE_ITEMS = 1_000;
const MAX_SAMPLE_TEXT = 64 * 1024;

/** Undefined when no value could be made that the schema takes. */
export async function sampleValue(schema: JsonSchema): Promise<{ readonly value: Json } | undefined> {
  const validate = await compileJsonSchema(schema, { unsupportedPatterns: "ignore" });
  for (const taste of TASTES) {
    const checked = validate(make(schema, { ...taste, root: schema, left: { values: MAX_SAMPLE_VALUES } }, 0, 0));
    if (checked.ok) return { value: checked.value as Json };
  }
  return undefined;
}

/** What is tried in turn: the schema's own examples may be wrong, optional fields may exclude each other. */
const TASTES = [
  { given: true, optional: true, choice: 0 },
  { given: false, optional: true, choice: 0 },
  { given: true, optional: false, choice: 0 },
  { given: false, optional: false, choice: 0 },
  { given: true, optional: true, choice: 1 },
  { given: false, optional: false, choice: 1 },
] as const;

type Taste = {
  readonly given: boolean;
  readonly optional: boolean;
  /** Which of several alternatives. */
  readonly choice: number;
  readonly root: JsonSchema;
  readonly left: { values: number };
};

/** `nth` tells the items of one list apart, where they must differ. */
function make(schema: JsonSchema, taste: Taste, depth: number, nth: number): Json {
  taste.left.values--;
  if (typeof schema === "boolean" || depth > MAX_SAMPLE_DEPTH) return null;
  const whole = merged(schema, taste, 0);
  if (Object.hasOwn(whole, "const")) return whole["const"] ?? null;
  const choices = whole["enum"];
  if (Array.isArray(choices) && choices.length > 0) return (choices as Json[])[nth % choices.length] ?? null;
  if (taste.given && nth === 0) {
    if (whole["default"] !== undefined) return whole["default"];
    const examples = whole["examples"];
    if (Array.isArray(examples) && examples.length > 0) return (examples as Json[])[0] ?? null;
  }
  switch (typeOf(whole)) {
    case "object":
      return makeObject(whole, taste, depth);
    case "array":
      return makeArray(whole, taste, depth);
    case "string":
      return makeText(whole, nth);
    case "integer":
    case "number":
      return makeNumber(whole, nth);
    case "boolean":
      return nth % 2 === 0;
    default:
      return null;
  }
}

/** One flat schema of a schema, what it refers to, all of `allOf` and one of each of its alternatives. */
function merged(schema: JsonObject, taste: Taste, depth: number): JsonObject {
  let whole: Record<string, Json> = { ...schema };
  if (depth > MAX_SAMPLE_DEPTH) return whole;
  const add = (part: unknown): void => {
    if (isSchemaObject(part)) whole = joined(whole, merged(part, taste, depth + 1));
  };
  const { root } = taste;
  const { $ref: reference, allOf, anyOf, oneOf } = schema;
  if (typeof reference === "string" && isSchemaObject(root)) add(followPointer(root, reference)?.value);
  if (Array.isArray(allOf)) for (const part of allOf) add(part);
  for (const alternatives of [anyOf, oneOf]) {
    if (Array.isArray(alternatives)) add((alternatives as unknown[])[taste.choice % alternatives.length]);
  }
  return whole;
}

function joined(one: JsonObject, other: JsonObject): Record<string, Json> {
  const both: Record<string, Json> = { ...other, ...one };
  const { properties: a, required: c } = one;
  const { properties: b, required: d } = other;
  if (isSchemaObject(a) && isSchemaObject(b)) both["properties"] = { ...b, ...a };
  if (Array.isArray(c) && Array.isArray(d)) both["required"] = [...new Set([...(c as Json[]), ...(d as Json[])])];
  return both;
}

function typeOf(schema: JsonObject): Json | undefined {
  const { type } = schema;
  if (typeof type === "string") return type;
  if (Array.isArray(type)) return (type as Json[]).find((name) => name !== "null") ?? "null";
  return INFERRED.find(([keyword]) => Object.hasOwn(schema, keyword))?.[1];
}

const INFERRED = [
  ["properties", "object"],
  ["required", "object"],
  ["additionalProperties", "object"],
  ["items", "array"],
  ["prefixItems", "array"],
  ["minItems", "array"],
  ["pattern", "string"],
  ["format", "string"],
  ["minLength", "string"],
  ["maxLength", "string"],
  ["minimum", "number"],
  ["maximum", "number"],
  ["multipleOf", "number"],
] as const;

function makeObject(schema: JsonObject, taste: Taste, depth: number): Json {
  const { properties, additionalProperties: others } = schema;
  const declared = isSchemaObject(properties) ? properties : {};
  const required = Array.isArray(schema["required"]) ? (schema["required"] as unknown[]).map(String) : [];
  const wanted = taste.optional && depth < MAX_SAMPLE_DEPTH / 2 ? [...required, ...Object.keys(declared)] : required;
  const made: Record<string, Json> = {};
  for (const key of new Set(wanted)) {
    if (taste.left.values <= 0 && !required.includes(key)) break;
    const own = Object.hasOwn(declared, key) ? declared[key] : others;
    const value = make(isSchema(own) ? own : true, taste, depth + 1, 0);
    Object.defineProperty(made, key, { value, enumerable: true, configurable: true, writable: true });
  }
  const least = Math.min(count(schema, "minProperties", 0), MAX_SAMPLE_ITEMS);
  for (let n = 1; Object.keys(made).length < least; n++) {
    made[`key${String(n)}`] = make(isSchema(others) ? others : true, taste, depth + 1, n);
  }
  return made;
}

function makeArray(schema: JsonObject, taste: Taste, depth: number): Json {
  const { prefixItems, items: any, contains } = schema;
  const tuple = Array.isArray(prefixItems) ? prefixItems : Array.isArray(any) ? any : [];
  const rest = isSchema(any) ? any : isSchema(schema["additionalItems"]) ? schema["additionalItems"] : true;
  const one = taste.optional && depth < MAX_SAMPLE_DEPTH / 2 && rest !== false ? 1 : 0;
  const least = Math.max(count(schema, "minItems", 0), tuple.length === 0 ? one : tuple.length);
  const length = Math.min(least, count(schema, "maxItems", MAX_SAMPLE_ITEMS), MAX_SAMPLE_ITEMS);
  return Array.from({ length }, (_, n): Json => {
    if (n === 0 && isSchemaObject(contains)) return make(contains, taste, depth + 1, 0);
    const own: unknown = tuple[n] ?? rest;
    return make(isSchema(own) ? own : true, taste, depth + 1, n < tuple.length ? 0 : n - tuple.length);
  });
}

function makeText(schema: JsonObject, nth: number): string {
  const { format } = schema;
  const known = typeof format === "string" ? FORMATS.get(format) : undefined;
  if (known !== undefined) return known;
  const text = nth === 0 ? "text" : `text ${String(nth + 1)}`;
  const least = Math.min(count(schema, "minLength", 0), MAX_SAMPLE_TEXT);
  return text.padEnd(least, "x").slice(0, Math.max(least, count(schema, "maxLength", MAX_SAMPLE_TEXT)));
}

const FORMATS: ReadonlyMap<string, string> = new Map([
  ["date-time", "2026-01-01T00:00:00Z"],
  ["date", "2026-01-01"],
  ["time", "00:00:00Z"],
  ["duration", "PT1S"],
  ["email", "someone@example.org"],
  ["idn-email", "someone@example.org"],
  ["hostname", "example.org"],
  ["ipv4", "192.0.2.1"],
  ["ipv6", "2001:db8::1"],
  ["uri", "https://example.org/"],
  ["uri-reference", "/"],
  ["iri", "https://example.org/"],
  ["url", "https://example.org/"],
  ["uuid", "00000000-0000-4000-8000-000000000000"],
  ["json-pointer", ""],
  ["regex", ".*"],
]);

function makeNumber(schema: JsonObject, nth: number): number {
  const step = Number(schema["multipleOf"] ?? 1);
  const { minimum, exclusiveMinimum: above, maximum, exclusiveMaximum: below } = schema;
  const whole = typeOf(schema) === "integer";
  let lowest = typeof minimum === "number" ? Math.ceil(minimum / step) * step : undefined;
  if (typeof above === "number") lowest = Math.max(lowest ?? -Infinity, (Math.floor(above / step) + 1) * step);
  let highest = typeof maximum === "number" ? Math.floor(maximum / step) * step : undefined;
  if (typeof below === "number") highest = Math.min(highest ?? Infinity, (Math.ceil(below / step) - 1) * step);
  const start = lowest ?? (highest === undefined ? step : Math.min(step, highest));
  const made = start + nth * step;
  // Between bounds that are closer than a step: the middle, where fractions are allowed.
  const tight = !whole && highest !== undefined && made > highest && schema["multipleOf"] === undefined;
  return tight ? (Number(minimum ?? above) + Number(maximum ?? below)) / 2 : made;
}

function count(schema: JsonObject, keyword: string, otherwise: number): number {
  const value = schema[keyword];
  return typeof value === "number" && value >= 0 ? Math.floor(value) : otherwise;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "boolean" || isSchemaObject(value);
}
