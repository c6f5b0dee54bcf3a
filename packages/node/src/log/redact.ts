import { isSecretEntry, REDACTED, redactedName, redactedStart } from "@ergon/core/schema";

/** Deeper values, longer lists and longer texts are cut: a log line is a hint, not a store. */
export const MAX_REDACT_DEPTH = 8;
export const MAX_REDACT_ENTRIES = 1_000;
export const MAX_LOGGED_TEXT = 8_192;
/** Of all texts of one value together. */
export const MAX_REDACT_CHARS = 262_144;

/**
 * A copy that is safe to log: whatever stands under a secret-looking name is replaced, and texts that look like
 * credentials are too. Numbers stay even under such names: `maxTokens` is not a secret. Never throws.
 */
export function redact(value: unknown): unknown {
  return copy(value, { depth: 0, left: { entries: MAX_REDACT_ENTRIES, chars: MAX_REDACT_CHARS } });
}

/** Whether what is named so is most likely a secret. */
export function isSecretName(name: string): boolean {
  return isSecretEntry(name, "text") || /(^|[-_])(key|auth|pat|pwd)$|authorization|apikey/i.test(name);
}

type Budget = { readonly depth: number; readonly left: { entries: number; chars: number } };

function copy(value: unknown, budget: Budget): unknown {
  switch (typeof value) {
    case "string":
      return copyText(value, budget);
    case "bigint":
    case "symbol":
      return value.toString();
    case "function":
      return "[function]";
    case "object":
      return value === null ? null : copyObject(value, budget);
    case "number":
    case "boolean":
    case "undefined":
      return value;
  }
}

function copyText(text: string, { left }: Budget): string {
  left.chars -= text.length;
  return left.chars < 0 ? `… (${text.length} characters)` : redactText(text);
}

export function redactText(text: string): string {
  return redactedStart(text, MAX_LOGGED_TEXT);
}

function copyObject(value: object, budget: Budget): unknown {
  if (budget.depth >= MAX_REDACT_DEPTH) return Array.isArray(value) ? "[list]" : "[object]";
  const inner = { ...budget, depth: budget.depth + 1 };
  if (Array.isArray(value)) return copyList(value, inner);
  if (value instanceof Error) return copyError(value, inner);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  return copyEntries(value, inner);
}

function copyError(error: Error, budget: Budget): Record<string, unknown> {
  const { name, message, stack } = error;
  return { ...copyEntries(error, budget), ...copyEntries({ name, message, stack }, budget) };
}

function copyList(list: readonly unknown[], budget: Budget): unknown[] {
  const out: unknown[] = [];
  for (const item of list) {
    if (spent(budget)) return [...out, `… (${list.length} in all)`];
    out.push(copy(item, budget));
  }
  return out;
}

function copyEntries(value: object, budget: Budget): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [index, key] of Object.keys(value).entries()) {
    if (spent(budget)) {
      out["…"] = "cut";
      return out;
    }
    Object.defineProperty(out, redactedName(key, index), {
      value: entry(value, key, budget),
      enumerable: true,
      configurable: true,
    });
  }
  return out;
}

function entry(owner: object, key: string, budget: Budget): unknown {
  try {
    const value: unknown = Reflect.get(owner, key);
    return isSecretEntry(key, value) ? REDACTED : copy(value, budget);
  } catch {
    return "[unreadable]";
  }
}

function spent(budget: Budget): boolean {
  budget.left.entries -= 1;
  return budget.left.entries < 0;
}
