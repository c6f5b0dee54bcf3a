import type { Json, JsonObject, Tool } from "@ergon/core";
import type { Entity } from "@ergon/core/planner";
import { arrayValue, enumValue, numberValue, type Said, textValue, type Used } from "./argument-values.ts";
import type { Mention } from "./entities.ts";
import { isSchemaObject, propertiesOf, requiredOf } from "./properties.ts";
import { spansOf } from "./spans.ts";
import type { Wording } from "./wording.ts";
import { stemOf, wordsOf } from "./words.ts";

/** Says in a schema what kind of entity an argument names. */
const ENTITY_KEYWORD = "x-ergon-entity";

/**
 * What a message says for a tool's arguments, read with the tool's schema in hand. Nothing is made up: other tools'
 * clauses are asked only for a text that this tool needs and its own clause points back at.
 */
export function extractArgs(tool: Tool, { own, beside, before, mentions }: Wording): JsonObject {
  const said = { ...readArgs(tool, beside, mentions), ...readArgs(tool, own, mentions) };
  const meant = Object.entries(before === "" ? {} : readArgs(tool, before, mentions));
  const needed = requiredOf(tool);
  return {
    ...Object.fromEntries(meant.filter(([name, value]) => needed.has(name) && typeof value === "string")),
    ...said,
  };
}

function readArgs(tool: Tool, message: string, mentions: readonly Mention[]): JsonObject {
  if (message === "") return {};
  const required = requiredOf(tool);
  const spans = spansOf(message);
  const used: Used = { quoted: new Set(), numbers: new Set(), names: new Set(), entities: new Set() };
  const args: Record<string, Json> = {};
  // Arguments that can be only one thing choose first, and required ones before the others.
  const ordered = propertiesOf(tool).toSorted(
    ([a, schemaA], [b, schemaB]) => rank(a, schemaA, required) - rank(b, schemaB, required),
  );
  for (const [name, schema] of ordered) {
    const value = valueFor(name, schema, { message, spans, mentions, used, required: required.has(name), tool });
    if (value !== undefined) args[name] = value;
  }
  return args;
}

/** Whether one of a tool's arguments names an entity of this kind. */
export function takesKind(tool: Tool, entity: Entity): boolean {
  return propertiesOf(tool).some(([name, schema]) => isOfKind(entity, entityKind(name, schema)));
}

function rank(name: string, schema: JsonObject, required: ReadonlySet<unknown>): number {
  const kind =
    entityKind(name, schema) !== undefined ? 0 : schema["enum"] !== undefined ? 1 : schema["type"] === "string" ? 3 : 2;
  return (required.has(name) ? 0 : 10) + kind;
}

function valueFor(name: string, given: JsonObject, said: Said): Json | undefined {
  const schema = simplest(given);
  const { spans, message, mentions, used } = said;
  if (spans.json !== undefined && Object.hasOwn(spans.json, name)) return spans.json[name] as Json;
  const written = writtenOut(name, message);
  if (written !== undefined) return converted(written, schema);
  const kind = entityKind(name, schema);
  if (kind !== undefined) {
    const mention = mentions.find(({ entity }) => isOfKind(entity, kind) && !used.entities.has(entity.id));
    if (mention !== undefined) {
      used.entities.add(mention.entity.id);
      return /name|title/i.test(name) ? mention.entity.name : mention.entity.id;
    }
  }
  if (Array.isArray(schema["enum"])) return enumValue(schema["enum"] as readonly Json[], message);
  const type = Array.isArray(schema["type"]) ? schema["type"].find((one) => one !== "null") : schema["type"];
  switch (type) {
    case "number":
    case "integer":
      return numberValue(name, schema, said);
    case "boolean":
      return booleanValue(name, message);
    case "array":
      return arrayValue(name, schema, said);
    case "string":
      return textValue(name, schema, said);
    default:
      return undefined;
  }
}

/** Of several forms that an argument may have, the one that a message can say. */
function simplest(schema: JsonObject): JsonObject {
  const forms = schema["anyOf"] ?? schema["oneOf"];
  if (!Array.isArray(forms)) return schema;
  const said = forms.filter(isSchemaObject).find(({ type }) => type !== "object" && type !== "null");
  return said === undefined
    ? schema
    : { ...said, ...(schema["description"] === undefined ? {} : { description: schema["description"] }) };
}

/** `profileId`, `profile_id`, `profile` and `profileName` name a profile; a schema may say it outright. */
function entityKind(name: string, schema: JsonObject): string | undefined {
  const told = schema[ENTITY_KEYWORD];
  if (typeof told === "string") return told;
  const type = schema["type"];
  if (type !== undefined && type !== "string") return undefined;
  const words = wordsOf(name).filter((word) => !["id", "name", "title", "key"].includes(word));
  return words.length === 1 ? words[0] : undefined;
}

function isOfKind({ kind, kindAliases = [] }: Entity, wanted: string | undefined): boolean {
  const word = wanted?.toLowerCase();
  return word !== undefined && (stemOf(kind.toLowerCase()) === stemOf(word) || kindAliases.includes(word));
}

/** `name: value`, `name=value`, `--name value`: the message says it itself. */
function writtenOut(name: string, message: string): string | undefined {
  const spoken = wordsOf(name).join("[ _-]?");
  const pattern = new RegExp(`(?:^|[\\s,(])(?:--)?${spoken}\\s*(?:=|:)\\s*("[^"]+"|'[^']+'|[^\\s,;)]+)`, "iu");
  return pattern
    .exec(message)?.[1]
    ?.replace(/^["'](.*)["']$/u, "$1")
    .replace(/[.?!]+$/, "");
}

function converted(text: string, schema: JsonObject): Json {
  const { type } = schema;
  if (type === "number" || type === "integer") return Number.isFinite(Number(text)) ? Number(text) : text;
  if (type === "boolean") return /^(true|yes|on)$/i.test(text);
  return text;
}

function booleanValue(name: string, message: string): boolean | undefined {
  const said = wordsOf(message).map(stemOf);
  const words = wordsOf(name)
    .filter((word) => !["is", "has", "with", "include", "should", "use"].includes(word))
    .map(stemOf);
  if (words.length === 0 || !words.every((word) => said.includes(word))) return undefined;
  const at = said.indexOf(words[0] ?? "");
  return !/\b(no|not|without|dont|don)\b/.test(said.slice(Math.max(0, at - 3), at).join(" "));
}
