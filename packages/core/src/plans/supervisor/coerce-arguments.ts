import { copyJson, type Json, type JsonObject, type JsonSchema } from "../../schema/values/json.ts";
import { followPointer, isSchemaObject } from "../../tools/json-schema/walk-schema.ts";
import { coerceScalar, jsonTypeName } from "./coerce-scalar.ts";

/** Values and schemas that one repair looks at; what lies beyond is left as it is. */
export const MAX_COERCIONS = 100_000;
/** Schemas inside schemas, and references that lead to references. */
const MAX_SCHEMA_DEPTH = 64;

/**
 * Arguments as near to the schema as they can be brought without guessing at meaning. The answer need not be valid: that
 * is the gate's question. Never changes its input.
 */
export function coerceArguments(schema: JsonSchema, args: JsonObject): JsonObject {
  const work: Work = { root: isSchemaObject(schema) ? schema : {}, left: MAX_COERCIONS };
  const coerced = coerce(schema, copyJson(args), work, 0);
  return isSchemaObject(coerced) ? coerced : args;
}

type Work = { readonly root: JsonObject; left: number };

function coerce(schema: unknown, value: Json, work: Work, depth: number): Json {
  work.left--;
  if (!isSchemaObject(schema) || work.left < 0 || depth > MAX_SCHEMA_DEPTH) return value;
  let next = value;
  if (typeof schema["$ref"] === "string")
    next = coerce(followPointer(work.root, schema["$ref"])?.value, next, work, depth + 1);
  for (const part of listOf(schema["allOf"])) next = coerce(part, next, work, depth + 1);
  const choices = [...listOf(schema["anyOf"]), ...listOf(schema["oneOf"])];
  if (choices.length > 0) next = coerceToOne(choices, next, work, depth);
  next = coerceScalar(schema, next);
  const types = typesOf(schema);
  if (types?.includes("array") === true && !types.includes(jsonTypeName(next))) next = asList(next);
  if (types?.includes("object") === true && !types.includes(jsonTypeName(next))) next = asObject(next);
  if (Array.isArray(next)) return coerceItems(schema, next, work, depth);
  return isSchemaObject(next) ? coerceFields(schema, next, work, depth) : next;
}

/** The choice that the value has the type of; else the first that makes something of its own type of it. */
function coerceToOne(choices: readonly unknown[], value: Json, work: Work, depth: number): Json {
  const fits = (choice: unknown, what: Json): boolean => typesOf(choice)?.includes(jsonTypeName(what)) !== false;
  const own = choices.find((choice) => fits(choice, value));
  if (own !== undefined) return coerce(own, value, work, depth + 1);
  for (const choice of choices) {
    const made = coerce(choice, value, work, depth + 1);
    if (fits(choice, made)) return made;
  }
  return value;
}

function coerceItems(schema: JsonObject, items: readonly Json[], work: Work, depth: number): Json {
  return items.map((item) => coerce(schema["items"], item, work, depth + 1));
}

function coerceFields(schema: JsonObject, value: JsonObject, work: Work, depth: number): JsonObject {
  const known = isSchemaObject(schema["properties"]) ? schema["properties"] : {};
  const required = listOf(schema["required"]);
  const rest = schema["additionalProperties"];
  const isClosed = rest === false && schema["patternProperties"] === undefined;
  const fields = new Map<string, Json>();
  for (const [key, field] of Object.entries(value)) {
    const isKnown = Object.hasOwn(known, key);
    if (!isKnown && isClosed) continue;
    // Where nothing may be left out as null, leaving it out is what was meant.
    if (isKnown && field === null && !required.includes(key) && takesNoNull(known[key])) continue;
    fields.set(key, coerce(isKnown ? known[key] : rest, field, work, depth + 1));
  }
  for (const [key, field] of Object.entries(known)) {
    if (fields.has(key) || !isSchemaObject(field) || field["default"] === undefined) continue;
    fields.set(key, copyJson(field["default"]));
  }
  return Object.fromEntries(fields);
}

function takesNoNull(schema: unknown): boolean {
  return typesOf(schema)?.includes("null") === false;
}

/** One value where a list is asked for; a list that was written as text is read. */
function asList(value: Json): Json {
  const read = fromText(value);
  return read !== undefined && Array.isArray(read) ? (read as readonly Json[]) : [value];
}

function asObject(value: Json): Json {
  const read = fromText(value);
  return isSchemaObject(read) ? read : value;
}

function fromText(value: Json): Json | undefined {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return undefined;
  try {
    return JSON.parse(value) as Json;
  } catch {
    return undefined;
  }
}

function typesOf(schema: unknown): readonly unknown[] | undefined {
  if (!isSchemaObject(schema) || schema["type"] === undefined) return undefined;
  const types = listOf(schema["type"]);
  const named = types.length === 0 ? [schema["type"]] : types;
  return named.includes("number") ? [...named, "integer"] : named;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
