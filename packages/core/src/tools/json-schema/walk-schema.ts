import type { JsonObject } from "../../schema/values/json.ts";
import { KEYWORDS } from "./keywords.ts";

export type SchemaNode = { readonly schema: JsonObject; readonly path: readonly string[] };
export type Subschema = { readonly value: unknown; readonly path: readonly string[] };

/**
 * Visits every schema object of a document once: where keywords hold schemas, and where local references point.
 * Boolean schemas and values that are no schemas are passed over; saying so is the checker's work.
 */
export function walkSchema(root: JsonObject, visit: (node: SchemaNode) => void): void {
  const seen = new Set<object>();
  const queue: Subschema[] = [{ value: root, path: [] }];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { value, path } = next;
    if (!isSchemaObject(value) || seen.has(value)) continue;
    seen.add(value);
    visit({ schema: value, path });
    for (const child of subschemas(value)) {
      queue.push({ value: child.value, path: [...path, ...child.path] });
    }
    const target = typeof value["$ref"] === "string" ? followPointer(root, value["$ref"]) : undefined;
    if (target !== undefined) queue.push(target);
  }
}

/** What stands where this schema's keywords take schemas. */
export function subschemas(schema: JsonObject): Subschema[] {
  const found: Subschema[] = [];
  for (const keyword of Object.keys(schema)) {
    const value = schema[keyword];
    switch (KEYWORDS.get(keyword)) {
      case "schema":
        found.push({ value, path: [keyword] });
        break;
      case "schema-or-list":
        if (Array.isArray(value)) pushAll(found, keyword, value);
        else found.push({ value, path: [keyword] });
        break;
      case "schema-list":
        if (Array.isArray(value)) pushAll(found, keyword, value);
        break;
      case "schema-map":
      case "pattern-map":
        if (isSchemaObject(value)) pushAll(found, keyword, value);
        break;
      case "dependencies":
        if (isSchemaObject(value)) pushAll(found, keyword, value, (entry) => !Array.isArray(entry));
        break;
      case "string-lists":
      case "string":
      case "pattern":
      case "number":
      case "positive":
      case "count":
      case "boolean":
      case "enum":
      case "names":
      case "type":
      case undefined:
        break;
    }
  }
  return found;
}

/** The value that `#` or `#/a/b` names in the document; undefined when it names nothing, or is another kind of reference. */
export function followPointer(root: JsonObject, reference: string): Subschema | undefined {
  if (reference === "#" || reference === "") return { value: root, path: [] };
  if (!reference.startsWith("#/")) return undefined;
  const path: string[] = [];
  let value: unknown = root;
  for (const part of reference.slice(2).split("/")) {
    const key = unescapePart(part);
    if (key === undefined || typeof value !== "object" || value === null || !Object.hasOwn(value, key))
      return undefined;
    value = (value as Record<string, unknown>)[key];
    path.push(key);
  }
  return { value, path };
}

export function isSchemaObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function pushAll(
  found: Subschema[],
  keyword: string,
  holder: object,
  wanted: (entry: unknown) => boolean = () => true,
): void {
  for (const [key, value] of Object.entries(holder)) {
    if (wanted(value)) found.push({ value, path: [keyword, key] });
  }
}

function unescapePart(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return undefined;
  }
}
