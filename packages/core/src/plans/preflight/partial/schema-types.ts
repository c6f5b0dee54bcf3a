import { CONVERTS_KEYWORD } from "../../../tools/adapt/zod-schema.ts";
import { followPointer, isSchemaObject } from "../../../tools/json-schema/walk-schema.ts";
import { isList } from "../../pointer/json-shape.ts";
import { ALL_TYPES, jsonTypeOf, type JsonType } from "./json-type.ts";

/** References followed and combinations opened for one answer; beyond, anything is possible. */
const MAX_DEPTH = 32;
const MAX_STEPS = 2_000;

/** A part of a schema document; references are followed from its root. */
export type SchemaPart = { readonly root: unknown; readonly schema: unknown };

/** Every type that a value of this schema can have, and perhaps more: what is missing is surely impossible. */
export function typesOf({ root, schema }: SchemaPart): ReadonlySet<JsonType> {
  return collect({ root, steps: 0 }, schema, 0);
}

type Walk = { readonly root: unknown; steps: number };

function collect(walk: Walk, schema: unknown, depth: number): ReadonlySet<JsonType> {
  walk.steps += 1;
  if (schema === false) return new Set();
  if (isSchemaObject(schema) && schema[CONVERTS_KEYWORD] === true) return ALL_TYPES;
  if (!isSchemaObject(schema) || depth > MAX_DEPTH || walk.steps > MAX_STEPS) return ALL_TYPES;
  let types: ReadonlySet<JsonType> = declared(schema["type"], schema["nullable"] === true);
  if (isList(schema["enum"])) types = intersection(types, new Set(schema["enum"].map(jsonTypeOf)));
  if (Object.hasOwn(schema, "const")) types = intersection(types, new Set([jsonTypeOf(schema["const"])]));
  if (typeof schema["$ref"] === "string" && isSchemaObject(walk.root)) {
    const target = followPointer(walk.root, schema["$ref"]);
    if (target !== undefined) types = intersection(types, collect(walk, target.value, depth + 1));
  }
  if (isList(schema["allOf"])) {
    for (const part of schema["allOf"]) types = intersection(types, collect(walk, part, depth + 1));
  }
  for (const keyword of ["anyOf", "oneOf"]) {
    const parts = schema[keyword];
    if (!isList(parts) || parts.length === 0) continue;
    types = intersection(types, new Set(parts.flatMap((part) => [...collect(walk, part, depth + 1)])));
  }
  return types;
}

function declared(type: unknown, nullable: boolean): ReadonlySet<JsonType> {
  const names: readonly unknown[] = isList(type) ? type : [type];
  const types = new Set<JsonType>();
  for (const name of names) {
    const plain = name === "integer" ? "number" : name;
    if (!isJsonType(plain)) return ALL_TYPES;
    types.add(plain);
  }
  return nullable ? types.add("null") : types;
}

function isJsonType(name: unknown): name is JsonType {
  return ALL_TYPES.has(name as JsonType);
}

function intersection(a: ReadonlySet<JsonType>, b: ReadonlySet<JsonType>): ReadonlySet<JsonType> {
  return new Set([...a].filter((type) => b.has(type)));
}
