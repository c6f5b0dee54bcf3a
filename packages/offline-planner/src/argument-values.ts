import type { Json, JsonObject, Tool } from "@ergon/core";
import type { Mention } from "./entities.ts";
import { isSchemaObject, propertiesOf } from "./properties.ts";
import type { NumberSpan, Spans } from "./spans.ts";
import { saidUnit, unitOf } from "./time-units.ts";
import { typosBetween } from "./typos.ts";
import { stemOf, wordsOf } from "./words.ts";

/** What has become an argument already: nothing is taken twice. */
export type Used = {
  readonly quoted: Set<string>;
  readonly numbers: Set<NumberSpan>;
  readonly names: Set<string>;
  readonly entities: Set<string>;
};

export type Said = {
  readonly message: string;
  readonly spans: Spans;
  readonly mentions: readonly Mention[];
  readonly used: Used;
  readonly required: boolean;
  readonly tool: Tool;
};

/** The choice that the message names, one typo forgiven in a long word. */
export function enumValue(choices: readonly Json[], message: string): Json | undefined {
  const said = wordsOf(message);
  const words = choices.filter((choice) => typeof choice === "string");
  const longest = words.filter((choice) => saysChoice(choice, said)).sort((a, b) => b.length - a.length)[0];
  if (longest !== undefined) return longest;
  return choices.find(
    (choice) => typeof choice === "number" && new RegExp(`(?<![\\d.])${String(choice)}(?![\\d.])`).test(message),
  );
}

function saysChoice(choice: string, said: readonly string[]): boolean {
  const words = wordsOf(choice);
  if (words.length === 0) return false;
  return said.some((_, start) =>
    words.every((word, at) => {
      const heard = said[start + at] ?? "";
      return stemOf(heard) === stemOf(word) || (word.length >= 5 && typosBetween(heard, word, 1) <= 1);
    }),
  );
}

const LIMIT_NAMES = /^(limit|top|count|max|maximum|n|topn|topk|k|size|sentences|results|number)/i;
const LIMIT_SAID =
  /\b(top|first|best|limit(ed)?( to)?|at most|up to|max(imum)?( of)?|only|in|to|into|with|of|last)\s*$/i;

/** The number that stands with the argument's own words; else, for one that is needed, the next in order. */
export function numberValue(
  name: string,
  schema: JsonObject,
  { spans, used, required, tool }: Said,
): number | undefined {
  const words = new Set(
    [...wordsOf(name), ...wordsOf(typeof schema["description"] === "string" ? schema["description"] : "")].map(stemOf),
  );
  const unit = unitOf(name, schema);
  const valueOf = ({ value, after }: NumberSpan): number => inUnit(value, saidUnit(after), unit);
  const free = spans.numbers.filter((span) => !used.numbers.has(span) && fits(valueOf(span), schema));
  const own = wordsOf(name).map(stemOf);
  const named = free.find(({ before, after }) =>
    own.some((word) => lastWords(before, 2).includes(word) || firstWords(after, 2).includes(word)),
  );
  const limit = LIMIT_NAMES.test(name) ? free.find(({ before }) => LIMIT_SAID.test(before)) : undefined;
  const described = free.find(({ before, after }) =>
    [...lastWords(before, 1), ...firstWords(after, 1)].some((word) => words.has(word)),
  );
  const only = required || numericNames(tool).length === 1 ? free[0] : undefined;
  const chosen = named ?? limit ?? described ?? (required ? only : LIMIT_NAMES.test(name) ? undefined : only);
  if (chosen === undefined) return undefined;
  used.numbers.add(chosen);
  return valueOf(chosen);
}

/** "20 seconds" for an argument in milliseconds is 20,000. */
function inUnit(value: number, said: number | undefined, wanted: number | undefined): number {
  return said === undefined || wanted === undefined ? value : (value * said) / wanted;
}

function fits(value: number, { type, minimum, maximum }: JsonObject): boolean {
  if (type === "integer" && !Number.isInteger(value)) return false;
  return !(typeof minimum === "number" && value < minimum) && !(typeof maximum === "number" && value > maximum);
}

function numericNames(tool: Tool): readonly string[] {
  return propertiesOf(tool)
    .filter(([, { type }]) => type === "number" || type === "integer")
    .map(([name]) => name);
}

function lastWords(text: string, count: number): readonly string[] {
  return wordsOf(text).slice(-count).map(stemOf);
}

function firstWords(text: string, count: number): readonly string[] {
  return wordsOf(text).slice(0, count).map(stemOf);
}

/** Lists are said as "a, b and c", as several quotes, or as several numbers. */
export function arrayValue(
  name: string,
  schema: JsonObject,
  { spans, used, required, message }: Said,
): Json | undefined {
  // What need not be said is taken only where the message speaks of it.
  const spoken = wordsOf(message).map(stemOf);
  if (!required && !wordsOf(name).some((word) => spoken.includes(stemOf(word)))) return undefined;
  const items = isSchemaObject(schema["items"]) ? schema["items"] : {};
  if (items["type"] === "number" || items["type"] === "integer") {
    const numbers = spans.numbers.filter((span) => !used.numbers.has(span)).map(({ value }) => value);
    return numbers.length === 0 ? undefined : numbers;
  }
  if (items["type"] !== undefined && items["type"] !== "string") return undefined;
  if (spans.quoted.length > 0) return [...spans.quoted];
  const listed =
    spans.afterColon ?? (spans.names.length > 1 ? spans.names.map(({ text }) => text).join(", ") : undefined);
  const parts = listed?.split(/\s*(?:,|;|\band\b)\s*/u).map((part) => part.replace(/[.?!]+$/, "").trim());
  const named = parts?.filter((part) => part !== "");
  return named === undefined || named.length === 0 ? undefined : named;
}

const PATH_NAMES = /path|file|folder|directory/i;
const QUERY_NAMES = /^(query|question|search|prompt|q|topic|need|goal|request)/i;
const TEXT_NAMES = /^(text|content|body|message|note|sentence|paragraph|code|input|document)/i;
const NAME_NAMES = /^(who|name|person|recipient|to|for|user|author|city|place|location|country|title)|name$/i;
/** Of these, what is said to them is likelier in quotes than they are: 'say "Bonjour" to Marie Curie'. */
const PERSON_NAMES = /^(who|person|recipient|to|for|user|author)/i;

/** A text by what its name says it is; what nothing in the message speaks for stays unknown. */
export function textValue(name: string, schema: JsonObject, said: Said): string | undefined {
  const { spans, used, required, message } = said;
  const { format } = schema;
  const special = format === "email" ? spans.emails[0] : format === "uuid" ? spans.uuids[0] : undefined;
  if (special !== undefined) return special;
  if (format === "date" || format === "date-time") return spans.dates[0];
  if (format === "uri" || /url$/i.test(name)) return spans.urls[0];
  if (PATH_NAMES.test(name)) return spans.paths[0] ?? freeQuote(spans, used);
  const addressed = PERSON_NAMES.test(name) ? addressedName(spans, used) : undefined;
  if (addressed !== undefined) return addressed;
  const quote = required || TEXT_NAMES.test(name) || NAME_NAMES.test(name) ? freeQuote(spans, used) : undefined;
  if (quote !== undefined) return quote;
  if (TEXT_NAMES.test(name)) return spans.afterColon;
  if (QUERY_NAMES.test(name)) return message;
  const called = calledBy(name, message) ?? (required ? calledByDescription(schema, message) : undefined);
  if (called !== undefined) return called;
  if (NAME_NAMES.test(name) || (required && /Id$|_id$/.test(name))) return freeName(spans, used, message);
  return undefined;
}

function freeQuote({ quoted }: Spans, used: Used): string | undefined {
  const next = quoted.find((text) => !used.quoted.has(text));
  if (next !== undefined) used.quoted.add(next);
  return next;
}

/** "column price", "the dataset sales": the argument's own word, then its value. */
function calledBy(name: string, message: string): string | undefined {
  const [noun] = wordsOf(name).filter((word) => !["name", "id", "the"].includes(word));
  if (noun === undefined || noun.length < 3) return undefined;
  const after = new RegExp(
    `\\b${noun}s?\\s+(?:called\\s+|named\\s+)?([\\p{L}\\p{N}_@][\\p{L}\\p{N}_./@-]*)`,
    "iu",
  ).exec(message)?.[1];
  if (after !== undefined && !FUNCTION_WORDS.test(after)) return after.replace(/[.?!]+$/, "");
  const before = new RegExp(`([\\p{L}\\p{N}_][\\p{L}\\p{N}_.-]*)\\s+${noun}\\b`, "iu").exec(message)?.[1];
  return before !== undefined && !FUNCTION_WORDS.test(before) ? before : undefined;
}

/** "by the column region" for an argument that is described as a column. */
function calledByDescription({ description }: JsonObject, message: string): string | undefined {
  if (typeof description !== "string") return undefined;
  for (const noun of wordsOf(description).slice(0, MAX_NOUNS)) {
    const value = noun.length >= 4 && !FUNCTION_WORDS.test(noun) ? calledBy(noun, message) : undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

const MAX_NOUNS = 4;

const FUNCTION_WORDS =
  /^(a|an|the|and|or|of|in|on|at|to|for|by|with|from|into|is|are|was|be|has|have|that|this|these|those|my|our|your|which|what|each|every|any|all|how|does|do|it|its|as|between|than|over|per|some|new|same|one|other|using)$/i;

/** A capitalised run of words; or, after "greet", "to", "for", the word that follows. */
function freeName(spans: Spans, used: Used, message: string): string | undefined {
  const next = addressedName(spans, used) ?? spans.names.find(({ text }) => !used.names.has(text))?.text;
  if (next !== undefined) {
    used.names.add(next);
    return next;
  }
  const after = /\b(?:to|for|greet|welcome|called|named)\s+([\p{L}][\p{L}'’-]+)\s*[.?!]?$/iu.exec(message)?.[1];
  return after === undefined || FUNCTION_WORDS.test(after) || used.names.has(after) ? undefined : after;
}

function addressedName({ names }: Spans, used: Used): string | undefined {
  const found = names.find(
    ({ text, before }) => !used.names.has(text) && /\b(?:to|for|with|of|greet|welcome)\s*$/.test(before),
  );
  if (found !== undefined) used.names.add(found.text);
  return found?.text;
}
