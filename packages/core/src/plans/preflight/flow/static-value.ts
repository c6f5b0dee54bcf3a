import { followPointer, isSchemaObject } from "../../../tools/json-schema/walk-schema.ts";
import { isList } from "../../pointer/json-shape.ts";
import type { JsonType } from "../partial/json-type.ts";
import { typesOf, type SchemaPart } from "../partial/schema-types.ts";

/** What is known of a value before the plan runs. */
export type StaticValue =
  | { readonly kind: "schema"; readonly part: SchemaPart }
  | { readonly kind: "types"; readonly types: ReadonlySet<JsonType> }
  /** What a loop leaves behind: one item for each turn, null where a turn saved nothing. */
  | { readonly kind: "turns"; readonly of: StaticValue }
  | { readonly kind: "perhaps-null"; readonly of: StaticValue }
  | { readonly kind: "unknown" };

export const UNKNOWN: StaticValue = { kind: "unknown" };

/** A value with nothing at that place; `known` are the names that it has. */
export type Nothing = { readonly kind: "nothing"; readonly known: readonly string[] };

/** Every type that the value can have; undefined when nothing is known. */
export function staticTypes(value: StaticValue): ReadonlySet<JsonType> | undefined {
  switch (value.kind) {
    case "schema":
      return typesOf(value.part);
    case "types":
      return value.types;
    case "turns":
      return new Set<JsonType>(["array"]);
    case "perhaps-null": {
      const types = staticTypes(value.of);
      return types === undefined ? undefined : new Set<JsonType>([...types, "null"]);
    }
    case "unknown":
      return undefined;
  }
}

/** The member of a value; `nothing` when it surely has none there. */
export function staticMember(value: StaticValue, hop: string | number): StaticValue | Nothing {
  switch (value.kind) {
    case "schema":
      return schemaMember(value.part, hop, 0);
    case "types":
      return value.types.has(typeof hop === "number" ? "array" : "object") ? UNKNOWN : nothing();
    case "turns":
      return typeof hop === "number" ? { kind: "perhaps-null", of: value.of } : nothing();
    case "perhaps-null":
      return staticMember(value.of, hop);
    case "unknown":
      return UNKNOWN;
  }
}

const MAX_DEPTH = 32;
const COMBINING = ["allOf", "anyOf", "oneOf", "if", "$ref", "$dynamicRef"];

function schemaMember(part: SchemaPart, hop: string | number, depth: number): StaticValue | Nothing {
  const { root, schema } = part;
  if (schema === false) return nothing();
  if (!isSchemaObject(schema) || depth > MAX_DEPTH) return UNKNOWN;
  if (!typesOf(part).has(typeof hop === "number" ? "array" : "object")) return nothing();
  const own = typeof hop === "number" ? itemOf(schema, hop) : fieldOf(schema, hop);
  if (own !== undefined)
    return own === "none" ? nothing(fieldsOf(schema)) : { kind: "schema", part: { root, schema: own } };
  return memberOfParts(part, hop, depth);
}

/** What the schema itself says of a field: its schema, that there is none, or undefined for nothing. */
function fieldOf(schema: Readonly<Record<string, unknown>>, name: string): unknown {
  const { properties, additionalProperties } = schema;
  if (isSchemaObject(properties) && Object.hasOwn(properties, name)) return properties[name];
  if (schema["patternProperties"] !== undefined || additionalProperties === undefined) return undefined;
  return additionalProperties === false ? "none" : additionalProperties;
}

function itemOf(schema: Readonly<Record<string, unknown>>, index: number): unknown {
  const { prefixItems, items } = schema;
  if (prefixItems !== undefined || isList(items)) {
    const first = isList(prefixItems) ? prefixItems : isList(items) ? items : [];
    return index >= 0 && index < first.length ? first[index] : undefined;
  }
  return items;
}

/** A reference, or forms of which one holds: what only one of them can have. */
function memberOfParts({ root, schema }: SchemaPart, hop: string | number, depth: number): StaticValue | Nothing {
  if (!isSchemaObject(schema)) return UNKNOWN;
  const used = COMBINING.filter((keyword) => Object.hasOwn(schema, keyword));
  const [keyword] = used;
  if (keyword === undefined || used.length > 1) return UNKNOWN;
  if (keyword === "$ref" && typeof schema["$ref"] === "string" && isSchemaObject(root)) {
    const target = followPointer(root, schema["$ref"]);
    return target === undefined ? UNKNOWN : schemaMember({ root, schema: target.value }, hop, depth + 1);
  }
  const parts = schema[keyword];
  if ((keyword !== "anyOf" && keyword !== "oneOf") || !isList(parts) || parts.length > MAX_DEPTH) return UNKNOWN;
  const members = parts.map((each) => schemaMember({ root, schema: each }, hop, depth + 1));
  const possible = members.filter((member) => member.kind !== "nothing");
  const [only] = possible;
  if (only === undefined) return nothing(members.flatMap((member) => (member.kind === "nothing" ? member.known : [])));
  return possible.length === 1 ? only : UNKNOWN;
}

function fieldsOf({ properties }: Readonly<Record<string, unknown>>): readonly string[] {
  return isSchemaObject(properties) ? Object.keys(properties) : [];
}

function nothing(known: readonly string[] = []): Nothing {
  return { kind: "nothing", known };
}
