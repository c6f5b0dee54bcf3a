import { planError } from "../../errors/plan.ts";

/**
 * Splits a message into its fixed texts and the paths between `{{` and `}}`:
 *
 * | written          | means                                          |
 * |------------------|------------------------------------------------|
 * | `{{$.path}}`     | the value: a string as it is, others as JSON   |
 * | `\{{$.path}}`    | the text `{{$.path}}`                          |
 * | `\\{{$.path}}`   | a backslash, then the value                    |
 * | `{{name}}`       | itself: only what starts with `$` is a path    |
 *
 * Braces inside quotes belong to the path.
 */
export function splitMessage(message: string): readonly MessagePart[] {
  const parts: MessagePart[] = [];
  let text = "";
  let from = 0;
  for (const opening of message.matchAll(OPENING)) {
    if (opening.index < from) continue;
    const backslashes = opening[1] ?? "";
    text += message.slice(from, opening.index) + backslashes.slice(0, Math.floor(backslashes.length / 2));
    const braces = opening.index + backslashes.length;
    from = braces;
    if (backslashes.length % 2 === 1) {
      text += "{{";
      from += 2;
      continue;
    }
    const end = closingOf(message, braces);
    if (text !== "") parts.push({ kind: "text", text });
    parts.push({ kind: "path", jsonPath: message.slice(braces + 2, end).trim(), position: braces });
    text = "";
    from = end + 2;
  }
  text += message.slice(from);
  if (text !== "") parts.push({ kind: "text", text });
  return parts;
}

export type MessagePart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "path"; readonly jsonPath: string; readonly position: number };

/** How a value looks inside a text. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

const OPENING = /(\\*)\{\{(?=\s*\$)/g;

function closingOf(message: string, braces: number): number {
  let quote = "";
  for (let at = braces + 2; at < message.length; at++) {
    const ch = message.charAt(at);
    if (quote !== "") {
      if (ch === "\\") at += 1;
      else if (ch === quote) quote = "";
    } else if (ch === "'" || ch === '"') quote = ch;
    else if (ch === "}" && message.charAt(at + 1) === "}") return at;
  }
  throw planError("pointer_invalid", `The "{{" at character ${String(braces)} of the message has no "}}".`, {
    details: { jsonPath: message.slice(braces + 2), position: braces },
  });
}
