import type { Json, JsonObject, JsonSchema } from "../schema/values/json.ts";
import { isSecretEntry, MAX_KEY_CHARS, REDACTED, redactSecrets } from "../schema/values/redact.ts";
import { showHidden } from "./hidden-text.ts";

/** What is longer, deeper or more is cut where a person looks at it, and said to be; the call itself is not. */
export const MAX_PREVIEW_CHARS = 4_000;
export const MAX_PREVIEW_ENTRIES = 500;
export const MAX_PREVIEW_DEPTH = 12;

/** Arguments as a person may see them: secrets hidden, by schema, name and look; hidden characters written out. */
export function previewOf(args: JsonObject, schema: JsonSchema): Json {
  return shown(args, { schema, depth: 0, left: { entries: MAX_PREVIEW_ENTRIES } });
}

/** A text that others wrote, the same way. */
export function previewText(text: string): string {
  const start = text.slice(0, MAX_PREVIEW_CHARS + MAX_KEY_CHARS);
  const visible = showHidden(redactSecrets(start));
  const more = visible.length + text.length - start.length - MAX_PREVIEW_CHARS;
  return more <= 0 ? visible : `${visible.slice(0, MAX_PREVIEW_CHARS)}… (${String(more)} more characters)`;
}

type Looking = {
  readonly schema: unknown;
  readonly depth: number;
  readonly left: { entries: number };
};

function shown(value: Json, looking: Looking): Json {
  if (typeof value === "string") return previewText(value);
  if (typeof value !== "object" || value === null) return value;
  if (looking.depth >= MAX_PREVIEW_DEPTH) return "… (deeper than shown)";
  return Array.isArray(value) ? shownList(value, looking) : shownObject(value as JsonObject, looking);
}

function shownList(items: readonly Json[], looking: Looking): Json {
  const seen: Json[] = [];
  for (const item of items) {
    if (isSpent(looking)) return [...seen, `… (${String(items.length - seen.length)} more)`];
    seen.push(shown(item, { ...looking, schema: partOf(looking.schema, "items"), depth: looking.depth + 1 }));
  }
  return seen;
}

function shownObject(object: JsonObject, looking: Looking): Json {
  const seen: [string, Json][] = [];
  const entries = Object.entries(object);
  const properties = partOf(looking.schema, "properties");
  for (const [name, value] of entries) {
    if (isSpent(looking)) {
      seen.push(["…", `(${String(entries.length - seen.length)} more)`]);
      break;
    }
    const schema = partOf(properties, name);
    const hidden = isSecretEntry(name, value) || isSecretSchema(schema);
    seen.push([previewText(name), hidden ? REDACTED : shown(value, { ...looking, schema, depth: looking.depth + 1 })]);
  }
  return Object.fromEntries(seen);
}

function isSpent({ left }: Looking): boolean {
  left.entries -= 1;
  return left.entries < 0;
}

function partOf(schema: unknown, name: string): unknown {
  return isObject(schema) && Object.hasOwn(schema, name) ? schema[name] : undefined;
}

function isSecretSchema(schema: unknown): boolean {
  return isObject(schema) && (schema["writeOnly"] === true || schema["format"] === "password");
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
