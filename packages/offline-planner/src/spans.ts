/** What a message holds that can be an argument, in the order in which it is said. */
export type Spans = {
  readonly quoted: readonly string[];
  readonly numbers: readonly NumberSpan[];
  readonly paths: readonly string[];
  readonly dates: readonly string[];
  readonly emails: readonly string[];
  readonly urls: readonly string[];
  readonly uuids: readonly string[];
  /** Runs of capitalised words, the first word of a sentence aside. */
  readonly names: readonly NameSpan[];
  /** What follows the last colon, and so is most likely the thing itself. */
  readonly afterColon: string | undefined;
  /** A JSON object that was written out. */
  readonly json: Readonly<Record<string, unknown>> | undefined;
};

export type NumberSpan = {
  readonly value: number;
  readonly at: number;
  readonly before: string;
  readonly after: string;
};
type NameSpan = { readonly text: string; readonly at: number; readonly before: string };

/** A stretch of a text. */
export type Range = { readonly at: number; readonly length: number };

export function spansOf(text: string): Spans {
  const quoted = [...text.matchAll(QUOTED)].map((match) => match.slice(1).find((part) => part !== undefined) ?? "");
  const paths: string[] = [];
  text.replaceAll(PATH_LIKE, (token: string, at: number) => {
    const path = pathIn(token, text.charAt(at - 1));
    if (path !== undefined) paths.push(withoutTail(path, ".,;:!?"));
    return token;
  });
  const bare = text.replaceAll(QUOTED, (span) => " ".repeat(span.length));
  const plain = bare
    .replaceAll(URL_TEXT, blanked)
    .replaceAll(UUID, blanked)
    .replaceAll(DATE, blanked)
    .replaceAll(PATH_LIKE, (token: string, at: number) => {
      const path = pathIn(token, bare.charAt(at - 1)) ?? "";
      return blanked(path) + token.slice(path.length);
    });
  const colon = /:\s+(\S[^]*)$/.exec(text)?.[1]?.trim();
  return {
    quoted,
    numbers: numbersIn(plain),
    paths,
    dates: matches(text, DATE),
    emails: matches(text, EMAIL),
    urls: matches(text, URL_TEXT).map((url) => withoutTail(url, ".,;:!?)")),
    uuids: matches(text, UUID),
    names: namesIn(bare),
    afterColon: colon === undefined || colon === "" ? undefined : colon,
    json: jsonIn(text),
  };
}

/** What stands in quotes, the quotes included. */
export function quotedIn(text: string): readonly Range[] {
  return [...text.matchAll(QUOTED)].map((match) => ({ at: match.index, length: match[0].length }));
}

/* Each pattern is linear in the text: none can begin again inside what it has gone through in vain. */
const QUOTED = /"([^"]+)"|“([^“”]+)”|‘([^‘’]+)’|«([^«»]+)»|`([^`]+)`|(?<![\p{L}\p{N}])'([^']+)'(?![\p{L}\p{N}])/gu;
const PATH_LIKE = /[\w.~/-]+/g;
const FILE = /^[\w.~/-]*[\w-]\.(?:csv|json|jsonl|parquet|tsv|txt|md|ya?ml|xlsx|xml|log|py|ts|js)\b/;
const PLACE = /^(?:~|\.{0,2})\/[\w./-]+/;
const DATE = /\b\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z?)?\b/g;
const EMAIL = /(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;
const URL_TEXT = /\bhttps?:\/\/\S+/g;
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;

const NUMBER_WORDS = [
  "zero",
  "one",
  "two",
  "three",
  "four",
  "five",
  "six",
  "seven",
  "eight",
  "nine",
  "ten",
  "eleven",
  "twelve",
];
const NUMBER = new RegExp(
  `(?<![\\p{L}\\p{N}_.])(-?\\d[\\d,]*(?:\\.\\d+)?)(?:\\s?(%|ms\\b|s\\b|k\\b))?|(?<![\\p{L}\\p{N}_-])(${NUMBER_WORDS.join("|")})(?![\\p{L}\\p{N}_-])`,
  "giu",
);

/** "add two numbers", "these two: 3 and 4": how many there are, none of them. */
const COUNTED = /^(?:numbers|values|figures|integers|digits|operands|addends|amounts)\b/iu;
const POINTING = /\b(?:these|those|following)\s*$/iu;

function numbersIn(text: string): readonly NumberSpan[] {
  return [...text.matchAll(NUMBER)].flatMap((match) => {
    const [whole, digits, unit, word] = match;
    const value =
      word === undefined ? Number((digits ?? "").replaceAll(",", "")) : NUMBER_WORDS.indexOf(word.toLowerCase());
    if (!Number.isFinite(value)) return [];
    const before = text.slice(Math.max(0, match.index - 40), match.index);
    const after = `${unit ?? ""} ${text.slice(match.index + whole.length, match.index + whole.length + 40)}`.trim();
    if (COUNTED.test(after) || (word !== undefined && POINTING.test(before))) return [];
    return [{ value: unit?.toLowerCase() === "k" ? value * 1_000 : value, at: match.index, before, after }];
  });
}

const NAME = /\p{Lu}[\p{L}\p{N}'’-]*(?:\s+(?:(?:of|de|van|von|da|la|al|bin)\s+)?\p{Lu}[\p{L}\p{N}'’-]*)*/gu;
/** Capitalised for grammar's sake. */
const NO_NAMES =
  /^(?:I|I'm|I'd|A|An|The|And|Or|But|So|OK|Hi|Hello|Hey|Please|Thanks|What|Which|Who|Whom|Whose|Why|When|Where|How|Is|Are|Was|Were|Do|Does|Did|Can|Could|Should|Would|Will|Shall|Tell|Show|Find|Give|Get|List|Make|Let|Say|My|Our|Your|Their|His|Her|It|This|That|These|Those|For|To|In|On|At|Of|With)$/;

function namesIn(text: string): readonly NameSpan[] {
  return [...text.matchAll(NAME)].flatMap((match) => {
    const words = match[0].replaceAll(/['’]s\b/gu, "").split(/\s+/);
    const startsSentence = /^[.!?:;]?$/.test(lastLetter(text, match.index));
    let dropped = 0;
    while (words.length > 0 && NO_NAMES.test(words[0] ?? "")) dropped += (words.shift() ?? "").length + 1;
    // "Greet Ana": the verb that opens a sentence is no part of the name.
    if (dropped === 0 && startsSentence && words.length > 1 && /^\p{Lu}\p{Ll}+$/u.test(words[0] ?? "")) {
      return [
        {
          text: words.slice(1).join(" "),
          at: match.index + (words[0]?.length ?? 0) + 1,
          before: words[0]?.toLowerCase() ?? "",
        },
      ];
    }
    if (words.length === 0 || (dropped === 0 && startsSentence && words.length === 1)) return [];
    const at = match.index + dropped;
    return [{ text: words.join(" "), at, before: text.slice(Math.max(0, at - 30), at).toLowerCase() }];
  });
}

/** A token that names a file, or begins as a place does; what follows a colon is an address. */
function pathIn(token: string, before: string): string | undefined {
  return FILE.exec(token)?.[0] ?? (before === ":" ? undefined : PLACE.exec(token)?.[0]);
}

/** Without the marks that a sentence put at its end. */
function withoutTail(text: string, marks: string): string {
  let end = text.length;
  while (end > 0 && marks.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** The last one before a place that is no space; empty at the beginning. */
function lastLetter(text: string, before: number): string {
  let at = before - 1;
  while (at >= 0 && /\s/.test(text.charAt(at))) at--;
  return text.charAt(at);
}

function jsonIn(text: string): Readonly<Record<string, unknown>> | undefined {
  const start = text.indexOf("{");
  const end = text.lastIndexOf("}");
  if (start < 0 || end <= start) return undefined;
  try {
    const value: unknown = JSON.parse(text.slice(start, end + 1));
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function matches(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([found]) => found);
}

function blanked(span: string): string {
  return " ".repeat(span.length);
}
