import type { JsonSchema } from "@ergon/core";

/** Deeper fields are there, but not shown. */
const MAX_SHOWN_DEPTH = 3;
const MAX_SHOWN_VALUES = 8;

export type SchemaField = {
  readonly name: string;
  readonly type: string;
  readonly need: string;
  readonly description: string;
};

/** The fields of an object schema as lines for people; nested ones by their path. Empty when it names none. */
export function describeSchema(schema: JsonSchema, prefix = "", depth = 1): SchemaField[] {
  const node = record(schema);
  const properties = record(node["properties"]);
  const required = new Set(Array.isArray(node["required"]) ? node["required"] : []);
  return Object.keys(properties).flatMap((name) => {
    const field = record(properties[name]);
    const description = typeof field["description"] === "string" ? field["description"] : "";
    const path = `${prefix}${name}`;
    const own = { name: path, type: describeType(field), need: describeNeed(field, required.has(name)), description };
    if (depth >= MAX_SHOWN_DEPTH) return [own];
    const items = record(field["items"]);
    return [
      own,
      ...describeSchema(field as JsonSchema, `${path}.`, depth + 1),
      ...describeSchema(items as JsonSchema, `${path}[].`, depth + 1),
    ];
  });
}

export function describeType(schema: unknown): string {
  const node = record(schema);
  const { type, anyOf, oneOf, items } = node;
  const values = Array.isArray(node["enum"]) ? node["enum"] : "const" in node ? [node["const"]] : undefined;
  if (values !== undefined) {
    const shown = values.slice(0, MAX_SHOWN_VALUES).map((value) => JSON.stringify(value));
    return [...shown, ...(values.length > shown.length ? ["…"] : [])].join(" | ");
  }
  const options = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
  if (options !== undefined) return [...new Set(options.map(describeType))].join(" | ");
  if (type === "array") return items === undefined ? "array" : `array of ${describeType(items)}`;
  if (typeof type === "string") return type + describeRange(node);
  if (Array.isArray(type)) return type.join(" | ");
  return "any";
}

function describeRange(node: Readonly<Record<string, unknown>>): string {
  const { minimum, maximum } = node;
  if (typeof minimum === "number" && typeof maximum === "number") return ` ${minimum}–${maximum}`;
  if (typeof minimum === "number") return ` ≥ ${minimum}`;
  return typeof maximum === "number" ? ` ≤ ${maximum}` : "";
}

function describeNeed(field: Readonly<Record<string, unknown>>, isRequired: boolean): string {
  if ("default" in field) return `default ${JSON.stringify(field["default"])}`;
  return isRequired ? "required" : "optional";
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
