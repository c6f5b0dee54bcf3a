import type { JsonSchema } from "../schema/values/json.ts";
import { isSchemaObject } from "./json-schema/walk-schema.ts";

/** How much of a schema is written: `full` with what its author says of each field, `terse` without, `bare` one level of it. */
export type SignatureDetail = "full" | "terse" | "bare";

const MAX_FIELDS = 30;
const MAX_CHOICES = 20;
const MAX_DEPTH = 4;
const MAX_NOTE = 160;
const MAX_DEFAULT = 60;

type Node = Readonly<Record<string, unknown>>;
type Around = { readonly root: Node; readonly detail: SignatureDetail; readonly depth: number };

/** A schema in one line, as a model reads it: `{ path: string (the file), depth?: integer 1..5 = 2 }`. */
export function signatureOf(parameters: JsonSchema, detail: SignatureDetail = "full"): string {
  if (!isSchemaObject(parameters)) return "{}";
  const root = parameters as Node;
  if (!isSchemaObject(root["properties"]) && root["anyOf"] === undefined && root["oneOf"] === undefined) return "{}";
  return typeOf(root, { root, detail, depth: 0 });
}

function typeOf(given: unknown, around: Around): string {
  const schema = resolved(given, around);
  if (schema === undefined) return "any";
  const { enum: choices, anyOf, oneOf, allOf, type } = schema;
  if (Array.isArray(choices)) return choicesOf(choices);
  if ("const" in schema) return JSON.stringify(schema["const"]);
  const forms = anyOf ?? oneOf;
  if (Array.isArray(forms)) return [...new Set(forms.map((form) => typeOf(form, deeper(around))))].join(" | ");
  if (Array.isArray(allOf) && type === undefined) return allOf.map((form) => typeOf(form, deeper(around))).join(" & ");
  const names = Array.isArray(type) ? type.map(String) : [typeof type === "string" ? type : guessed(schema)];
  return names.map((name) => named(name, schema, around)).join(" | ");
}

function named(type: string, schema: Node, around: Around): string {
  switch (type) {
    case "object":
      return objectOf(schema, around);
    case "array": {
      const items = schema["items"];
      const of = items === undefined || isFlat(around) ? "array" : `${grouped(typeOf(items, deeper(around)))}[]`;
      return `${of}${range(schema["minItems"], schema["maxItems"], " items")}`;
    }
    case "string": {
      const { format, pattern } = schema;
      const form = typeof format === "string" ? ` ${format}` : typeof pattern === "string" ? ` /${cut(pattern)}/` : "";
      return `string${form}${range(schema["minLength"], schema["maxLength"], " characters")}`;
    }
    case "number":
    case "integer":
      return `${type}${range(schema["minimum"], schema["maximum"], "")}`;
    default:
      return type;
  }
}

function objectOf(schema: Node, around: Around): string {
  const properties = isSchemaObject(schema["properties"]) ? Object.entries(schema["properties"] as Node) : [];
  const { required, additionalProperties } = schema;
  if (around.depth > 0 && isFlat(around)) return "object";
  if (properties.length === 0 && isSchemaObject(additionalProperties))
    return `{ [key]: ${typeOf(additionalProperties, deeper(around))} }`;
  if (properties.length === 0 && around.depth > 0) return "object";
  const fields = properties.slice(0, MAX_FIELDS).map(([name, field]) => {
    const isRequired = Array.isArray(required) && required.includes(name);
    return `${name}${isRequired ? "" : "?"}: ${typeOf(field, deeper(around))}${notesOf(field, around)}`;
  });
  return `{ ${[...fields, ...(properties.length > MAX_FIELDS ? ["…"] : [])].join(", ")} }`;
}

/** What it is without being told, and what its author says of it. */
function notesOf(given: unknown, around: Around): string {
  const schema = resolved(given, around);
  if (schema === undefined || around.detail !== "full") return "";
  const { default: standard, description } = schema;
  const written = standard === undefined ? "" : JSON.stringify(standard);
  const value = written !== "" && written.length <= MAX_DEFAULT ? ` = ${written}` : "";
  return typeof description === "string" && description.trim() !== "" ? `${value} (${cut(description)})` : value;
}

/** References to the schema's own definitions are followed, as deep as anything is shown. */
function resolved(given: unknown, { root, depth }: Around): Node | undefined {
  let schema = given;
  for (let hops = 0; hops < MAX_DEPTH && isSchemaObject(schema); hops += 1) {
    const { $ref } = schema as Node;
    if (typeof $ref !== "string") return depth > MAX_DEPTH * 2 ? undefined : schema;
    const [, home = "", name = ""] = /^#\/(\$defs|definitions)\/(.+)$/.exec($ref) ?? [];
    const definitions = root[home];
    schema = isSchemaObject(definitions) ? (definitions as Node)[name] : undefined;
  }
  return undefined;
}

function guessed(schema: Node): string {
  if (schema["properties"] !== undefined) return "object";
  return schema["items"] === undefined ? "any" : "array";
}

function choicesOf(choices: readonly unknown[]): string {
  const shown = choices.slice(0, MAX_CHOICES).map((choice) => JSON.stringify(choice));
  return [...shown, ...(choices.length > MAX_CHOICES ? [`… (${String(choices.length)} in all)`] : [])].join(" | ");
}

function range(least: unknown, most: unknown, unit: string): string {
  const [from, to] = [least, most].map((bound) => (typeof bound === "number" && isTold(bound) ? String(bound) : ""));
  return from === "" && to === "" ? "" : ` ${from ?? ""}..${to ?? ""}${unit}`;
}

/** The ends of what a program can count are no bounds of anybody's. */
function isTold(bound: number): boolean {
  return Math.abs(bound) < Number.MAX_SAFE_INTEGER;
}

function grouped(type: string): string {
  return type.includes(" | ") && !type.startsWith("{") ? `(${type})` : type;
}

function isFlat({ detail, depth }: Around): boolean {
  return detail === "bare" || depth >= MAX_DEPTH;
}

function deeper(around: Around): Around {
  return { ...around, depth: around.depth + 1 };
}

function cut(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= MAX_NOTE ? line : `${line.slice(0, MAX_NOTE)}…`;
}
