import type { Json, JsonObject } from "../../schema/values/json.ts";

/** The value in the type, or in the spelling, that the schema asks for; as it is where there is no doubt-free way. */
export function coerceScalar(schema: JsonObject, value: Json): Json {
  return spelled(schema, typed(schema, value));
}

export function jsonTypeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "number" && Number.isInteger(value) ? "integer" : typeof value;
}

function typed(schema: JsonObject, value: Json): Json {
  const { type } = schema;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  const name = jsonTypeName(value);
  if (type === undefined || types.includes(name) || (name === "integer" && types.includes("number"))) return value;
  for (const wanted of types) {
    const made = as(wanted, value);
    if (made !== undefined) return made;
  }
  return value;
}

function as(type: unknown, value: Json): Json | undefined {
  if (type === "string") return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  if (type === "boolean") return BOOLEANS.get(text.toLowerCase());
  if (type !== "number" && type !== "integer") return undefined;
  const number = NUMBER.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(number) || (type === "integer" && !Number.isSafeInteger(number))) return undefined;
  return number;
}

const BOOLEANS = new Map([
  ["true", true],
  ["false", false],
]);
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** One of the schema's choices, where only spaces, case or its being text tell the value from it. */
function spelled(schema: JsonObject, value: Json): Json {
  const choices: readonly Json[] = Array.isArray(schema["enum"])
    ? schema["enum"]
    : schema["const"] === undefined
      ? []
      : [schema["const"]];
  if (!isScalar(value) || choices.length === 0 || choices.includes(value)) return value;
  const meant = choices.filter((choice) => isScalar(choice) && plain(choice) === plain(value));
  const [only, ...others] = meant;
  return only === undefined || others.length > 0 ? value : only;
}

function isScalar(value: Json): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function plain(value: string | number | boolean): string {
  return String(value).trim().toLowerCase();
}
