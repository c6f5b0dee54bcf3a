import { RE2JS } from "re2js";
import { putField } from "./json.ts";
import { SECRET_FORMATS, type SecretFormat } from "./secret-formats.ts";

export const REDACTED = "[redacted]";
const SECRET_NAME =
  /^(authorization|proxy-authorization|(set-)?cookie2?)$|token|passw(or)?d|passphrase|secret|credential|(api|private|access|service|role|signing|encryption)[-_]?key/i;
/** A key that a cut would halve is looked at whole. */
export const MAX_KEY_CHARS = 4_096;

/** Texts that look like credentials, replaced; the rest as it is. */
export function redactSecrets(text: string): string {
  if (!ANY_HINT.test(text)) return text;
  return FORMATS.reduce((shown, { hint, replace }) => (hint.test(shown) ? replace(shown) : shown), text);
}

/** The beginning of a text, the same way, and how long the whole is. */
export function redactedStart(text: string, maxChars: number): string {
  const shown = redactSecrets(text.slice(0, maxChars + MAX_KEY_CHARS));
  return text.length > maxChars ? `${shown.slice(0, maxChars)}… (${text.length} characters)` : shown;
}

/** The name of a field, the same way; by its place it stays apart from others that look the same then. */
export function redactedName(name: string, index: number): string {
  const shown = redactSecrets(name);
  return shown === name ? name : `${shown} (field ${index + 1})`;
}

/** The same for every text and every name in a value; numbers stay. Depth must be bounded by the caller, see `jsonProblem`. */
export function redactJson<T>(value: T): T {
  return redacted(value) as T;
}

function redacted(value: unknown): unknown {
  if (typeof value === "string") return redactSecrets(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(redacted);
  const copy: Record<string, unknown> = {};
  for (const [index, [name, field]] of Object.entries(value).entries())
    putField(copy, redactedName(name, index), redacted(field));
  return copy;
}

/**
 * Whether what stands under this name is hidden. Numbers stay even there, and yes and no: `maxTokens` is not a secret.
 */
export function isSecretEntry(name: string, value: unknown): boolean {
  const harmless = value === null || value === undefined || typeof value === "number" || typeof value === "boolean";
  return !harmless && SECRET_NAME.test(name);
}

const ANY_HINT = new RegExp(SECRET_FORMATS.map(({ hint }) => hint).join("|"));
const FORMATS = SECRET_FORMATS.map((format) => ({ hint: new RegExp(format.hint), replace: replacer(format) }));

/** Compiled when it is first needed: that takes longer than most texts. */
function replacer({ pattern }: SecretFormat): (text: string) => string {
  let compiled: RE2JS | undefined;
  return (text) => {
    compiled ??= RE2JS.compile(pattern);
    const kept = ["", "$1", "$2"].slice(0, compiled.groupCount() + 1);
    return compiled.matcher(text).replaceAll(`${kept[1] ?? ""}${REDACTED}${kept[2] ?? ""}`);
  };
}
