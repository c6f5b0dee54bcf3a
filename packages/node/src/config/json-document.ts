export type JsonDocument =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string; readonly line: number; readonly column: number };

/** Parses JSON and says where it went wrong: the platform's own messages leave the place out half of the time. */
export function parseJsonDocument(source: string): JsonDocument {
  const text = source.startsWith("\uFEFF") ? source.slice(1) : source;
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    const fault = findFault(text) ?? { at: text.length, message: error instanceof Error ? error.message : "not JSON" };
    const before = text.slice(0, fault.at);
    const line = before.split("\n").length;
    const column = fault.at - (before.lastIndexOf("\n") + 1) + 1;
    return { ok: false, message: `${fault.message} at line ${line}, column ${column}`, line, column };
  }
}

type Fault = { readonly at: number; readonly message: string };
type Expecting = "value" | "value-or-end" | "key" | "key-or-end" | "colon" | "comma-or-end" | "nothing";

function findFault(text: string): Fault | undefined {
  const open: ("{" | "[")[] = [];
  let expecting: Expecting = "value";
  let at = skipSpace(text, 0);
  while (at < text.length) {
    const token = tokenAt(text, at);
    const next: Expecting | undefined = token === undefined ? undefined : step(expecting, token, open);
    if (token === undefined || next === undefined)
      return { at, message: `unexpected ${describe(text, at)}, expected ${WANTED[expecting]}` };
    expecting = next;
    at = skipSpace(text, at + token.length);
  }
  return expecting === "nothing" ? undefined : { at, message: `it ends too early, expected ${WANTED[expecting]}` };
}

const WANTED: Readonly<Record<Expecting, string>> = {
  value: "a value",
  "value-or-end": "a value or ]",
  key: "a name in double quotes",
  "key-or-end": "a name in double quotes or }",
  colon: ":",
  "comma-or-end": "a comma or the closing bracket",
  nothing: "the end",
};

/** What may follow, or undefined when the token may not stand here. */
function step(expecting: Expecting, token: string, open: ("{" | "[")[]): Expecting | undefined {
  switch (expecting) {
    case "key":
    case "key-or-end":
      if (token.startsWith('"')) return "colon";
      return expecting === "key-or-end" && token === "}" ? close(open) : undefined;
    case "colon":
      return token === ":" ? "value" : undefined;
    case "comma-or-end": {
      const inner = open.at(-1);
      if (token === ",") return inner === "{" ? "key" : "value";
      return token === (inner === "{" ? "}" : "]") ? close(open) : undefined;
    }
    case "value":
    case "value-or-end":
      if (token === "{" || token === "[") {
        open.push(token);
        return token === "{" ? "key-or-end" : "value-or-end";
      }
      if (expecting === "value-or-end" && token === "]") return close(open);
      return "}],:".includes(token) ? undefined : afterValue(open);
    case "nothing":
      return undefined;
  }
}

function close(open: ("{" | "[")[]): Expecting {
  open.pop();
  return afterValue(open);
}

function afterValue(open: readonly unknown[]): Expecting {
  return open.length === 0 ? "nothing" : "comma-or-end";
}

function tokenAt(text: string, at: number): string | undefined {
  if (text[at] === '"') return stringAt(text, at);
  TOKEN.lastIndex = at;
  return TOKEN.exec(text)?.[0];
}

/** By hand, because a pattern for strings backtracks on long ones. */
function stringAt(text: string, start: number): string | undefined {
  for (let at = start + 1; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) return text.slice(start, at + 1);
    if (unit < SPACE_UNIT) return undefined;
    if (unit !== BACKSLASH) continue;
    ESCAPE.lastIndex = at;
    if (!ESCAPE.test(text)) return undefined;
    at = ESCAPE.lastIndex - 1;
  }
  return undefined;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE_UNIT = 0x20;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const TOKEN = /[{}[\],:]|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const SPACES = /[ \t\n\r]*/y;

function skipSpace(text: string, at: number): number {
  SPACES.lastIndex = at;
  SPACES.exec(text);
  return SPACES.lastIndex;
}

function describe(text: string, at: number): string {
  const rest = text.slice(at);
  if (rest.startsWith('"')) return "text that is not closed on its line or has a wrong escape";
  const word = /^[\w'.+-]+/.exec(rest)?.[0] ?? rest.slice(0, 1);
  return `"${word.slice(0, 20)}"`;
}
