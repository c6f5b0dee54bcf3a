/** What the value of a JSON Schema keyword has to be. Keywords that are not listed are annotations: anything goes. */
export type KeywordShape =
  | "schema"
  | "schema-or-list"
  | "schema-list"
  | "schema-map"
  | "pattern-map"
  | "dependencies"
  | "string-lists"
  | "string"
  | "pattern"
  | "number"
  | "positive"
  | "count"
  | "boolean"
  | "enum"
  | "names"
  | "type";

/** draft-07, 2019-09 and 2020-12 together; where they differ, the dialect decides. */
export const KEYWORDS: ReadonlyMap<string, KeywordShape> = new Map<string, KeywordShape>([
  ["$ref", "string"],
  ["$id", "string"],
  ["$anchor", "string"],
  ["$dynamicRef", "string"],
  ["$dynamicAnchor", "string"],
  ["$schema", "string"],
  ["$defs", "schema-map"],
  ["definitions", "schema-map"],
  ["type", "type"],
  ["enum", "enum"],
  ["properties", "schema-map"],
  ["patternProperties", "pattern-map"],
  ["additionalProperties", "schema"],
  ["unevaluatedProperties", "schema"],
  ["propertyNames", "schema"],
  ["required", "names"],
  ["minProperties", "count"],
  ["maxProperties", "count"],
  ["dependencies", "dependencies"],
  ["dependentSchemas", "schema-map"],
  ["dependentRequired", "string-lists"],
  ["items", "schema-or-list"],
  ["prefixItems", "schema-list"],
  ["additionalItems", "schema"],
  ["unevaluatedItems", "schema"],
  ["contains", "schema"],
  ["minContains", "count"],
  ["maxContains", "count"],
  ["minItems", "count"],
  ["maxItems", "count"],
  ["uniqueItems", "boolean"],
  ["allOf", "schema-list"],
  ["anyOf", "schema-list"],
  ["oneOf", "schema-list"],
  ["not", "schema"],
  ["if", "schema"],
  ["then", "schema"],
  ["else", "schema"],
  ["minimum", "number"],
  ["maximum", "number"],
  ["exclusiveMinimum", "number"],
  ["exclusiveMaximum", "number"],
  ["multipleOf", "positive"],
  ["minLength", "count"],
  ["maxLength", "count"],
  ["pattern", "pattern"],
  ["format", "string"],
]);

export const TYPE_NAMES: readonly string[] = ["string", "number", "integer", "boolean", "object", "array", "null"];
