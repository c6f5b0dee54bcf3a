import type { Json, JsonObject } from "./json.ts";

const SECRET = /passw(or)?d|passphrase|secret|credential|token|(api|private|access|signing)[-_ ]?key|\bpin\b/i;

/** Whether a form's field may ask for a secret: forms show and keep what is typed there. */
export function isSecretField(name: string, schema: Json): boolean {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return false;
  const { title, description, format, writeOnly } = schema as JsonObject;
  if (writeOnly === true || format === "password") return true;
  return [name, title, description].some((text) => typeof text === "string" && SECRET.test(text));
}
