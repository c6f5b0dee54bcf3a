import { isList } from "../../pointer/json-shape.ts";

/** JSON's own types; JSON Schema's `integer` is a number here. */
export type JsonType = "string" | "number" | "boolean" | "null" | "array" | "object";

export const ALL_TYPES: ReadonlySet<JsonType> = new Set(["string", "number", "boolean", "null", "array", "object"]);

export function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return "null";
  if (isList(value)) return "array";
  switch (typeof value) {
    case "string":
      return "string";
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    default:
      return "object";
  }
}

/** "a string", "null", "a string or a number" */
export function wordsFor(types: Iterable<string>): string {
  const words = [...types].map((type) => WORDS.get(type) ?? type);
  const last = words.pop();
  return words.length === 0 ? (last ?? "nothing") : `${words.join(", ")} or ${last ?? ""}`;
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ["string", "a string"],
  ["number", "a number"],
  ["integer", "a whole number"],
  ["boolean", "true or false"],
  ["array", "a list"],
  ["object", "an object"],
]);

export function disjoint(a: ReadonlySet<JsonType>, b: ReadonlySet<JsonType>): boolean {
  for (const type of a) if (b.has(type)) return false;
  return true;
}
