import type { Json, JsonObject } from "./json.ts";

const SECRET_WORDS =
  /passw(or)?d|passphrase|\b(pwd|secrets?|credentials?|(api|private|access|signing|secret|encryption|ssh) ?keys?)\b/;
/** What opens something, and not how many of a text's parts there are. */
const TOKEN =
  /\b(?<!\b(max|min|num|total|stop|count) )(access|auth|bearer|refresh|session)?token\b(?! (count|counts|limit|limits|budget|type|usage|length|size|s)\b)/;
/** Those that may be numbers. */
const SECRET_DIGITS = /\b(pin|passcode|otp|cvv|cvc)\b/;

/** A description as short as a title says what is asked for; a longer one may just as well warn of giving it. */
const MAX_LABEL_WORDS = 5;

/**
 * Whether a form's field may ask for a secret: forms show and keep what is typed there. Its name and title say so, or its
 * format.
 */
export function isSecretField(name: string, schema: Json): boolean {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return false;
  const { title, description, format, writeOnly, type = "string" } = schema as JsonObject;
  if (writeOnly === true || format === "password") return true;
  const isChosen = "enum" in schema || "oneOf" in schema || "const" in schema;
  if (isChosen) return false;
  const isText = type === "string" || (Array.isArray(type) && type.includes("string"));
  const isNumber = type === "integer" || type === "number";
  if (!isText && !isNumber) return false;
  const labels = [name, title, isLabel(description) ? description : undefined];
  const words = labels.flatMap((text) => (typeof text === "string" ? [wordsOf(text)] : []));
  return words.some((text) => SECRET_DIGITS.test(text) || (isText && (SECRET_WORDS.test(text) || TOKEN.test(text))));
}

function isLabel(description: Json | undefined): boolean {
  return typeof description === "string" && wordsOf(description).split(" ").length <= MAX_LABEL_WORDS;
}

/** `maxTokens`, `max_tokens` and `Max-Tokens` are the same words. */
function wordsOf(text: string): string {
  return text
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
    .toLowerCase();
}
