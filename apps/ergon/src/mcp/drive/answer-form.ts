import type { Json, JsonObject } from "@ergon/core";
import { isSecretField, type OpenWait } from "@ergon/core/schema";
import type { ElicitRequestFormParams } from "@modelcontextprotocol/server";

export type AnswerForm = {
  readonly schema: ElicitRequestFormParams["requestedSchema"];
  /** What the session is answered with. */
  readonly read: (content: Readonly<Record<string, unknown>>) => Json;
};

/**
 * The form that a client can show for a question: flat, with plain fields. Undefined where the answer has another shape,
 * or where it may be a secret: those are never asked for in a form, because clients show and keep what is typed there.
 */
export function answerForm({ inputSchema }: Pick<OpenWait, "inputSchema">): AnswerForm | undefined {
  if (inputSchema === undefined) return alone({ type: "string", title: "Answer" });
  if (typeof inputSchema === "boolean") return undefined;
  if (inputSchema["type"] !== "object") return alone(inputSchema);
  const { properties = {}, required = [] } = inputSchema as { properties?: JsonObject; required?: string[] };
  const entries = Object.entries(properties).map(([name, given]) => [name, fieldOf(name, given)] as const);
  if (entries.length === 0 || entries.some(([, field]) => field === undefined)) return undefined;
  return { schema: formOf(Object.fromEntries(entries), required), read: (content) => content as JsonObject };
}

const ANSWER = "answer";

function alone(given: JsonObject): AnswerForm | undefined {
  const field = fieldOf(ANSWER, given);
  if (field === undefined) return undefined;
  return { schema: formOf({ [ANSWER]: field }, [ANSWER]), read: (content) => (content[ANSWER] ?? null) as Json };
}

function formOf(properties: Readonly<Record<string, unknown>>, required: readonly string[]): AnswerForm["schema"] {
  return { type: "object", properties: properties as AnswerForm["schema"]["properties"], required: [...required] };
}

const PLAIN_TYPES = new Set(["string", "number", "integer", "boolean"]);
const FORMATS = new Set(["email", "uri", "date", "date-time"]);
const KEPT = ["type", "title", "description", "default", "enum", "minimum", "maximum", "minLength", "maxLength"];

function fieldOf(name: string, given: unknown): JsonObject | undefined {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return undefined;
  const schema = given as JsonObject;
  const { type, format, enum: choices } = schema;
  if (isSecretField(name, schema)) return undefined;
  if (typeof type !== "string" || !PLAIN_TYPES.has(type)) return undefined;
  if (choices !== undefined && !(type === "string" && isTextList(choices))) return undefined;
  const field = Object.fromEntries(KEPT.flatMap((key) => (schema[key] === undefined ? [] : [[key, schema[key]]])));
  return typeof format === "string" && FORMATS.has(format) ? { ...field, format } : field;
}

function isTextList(value: Json): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
