import type { OpenWait } from "@ergon/core/schema";
import { describeType } from "./describe-schema.ts";

/** More names than these would be no help. */
export const MAX_FIELDS_SHOWN = 8;

/**
 * What an answer to a question looks like on the command line, with values to be changed and, behind it, the types that
 * they have. It can be typed as it is.
 */
export function answerForm({ inputSchema }: Pick<OpenWait, "inputSchema">): string {
  if (typeof inputSchema !== "object") return ANY;
  const { type, required, properties = {} } = inputSchema;
  if (type !== undefined && type !== "object") return `'${exampleOf(inputSchema)}'   (${describeType(inputSchema)})`;
  const fields = properties as Readonly<Record<string, unknown>>;
  const asked = Array.isArray(required) && required.length > 0 ? required : Object.keys(fields);
  // It stands between single quotes, which a shell would end at.
  const names = asked.filter((name): name is string => typeof name === "string" && /^[\w-]+$/.test(name));
  if (names.length === 0 || names.length < asked.length || names.length > MAX_FIELDS_SHOWN) return ANY;
  const form = names.map((name) => `"${name}":${exampleOf(fields[name])}`).join(",");
  return `'{${form}}'   (${names.map((name) => `${name}: ${describeType(fields[name])}`).join(", ")})`;
}

const ANY = `'"your answer"'   (any JSON)`;

/** A value of the schema's type, in JSON; its bounds are not looked at. */
function exampleOf(schema: unknown): string {
  const node = (typeof schema === "object" && schema !== null ? schema : {}) as Readonly<Record<string, unknown>>;
  const [first] = Array.isArray(node["enum"])
    ? (node["enum"] as readonly unknown[])
    : [node["const"] ?? node["default"]];
  const known = first === undefined ? undefined : JSON.stringify(first);
  if (known !== undefined && !known.includes("'")) return known;
  const type: unknown = Array.isArray(node["type"]) ? node["type"][0] : node["type"];
  return EXAMPLES.get(type) ?? '"…"';
}

const EXAMPLES: ReadonlyMap<unknown, string> = new Map(
  Object.entries({ boolean: "true", integer: "1", number: "1", array: "[]", object: "{}", null: "null" }),
);
