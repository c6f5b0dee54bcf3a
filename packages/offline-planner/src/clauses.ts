import { quotedIn, type Range } from "./spans.ts";

/** One of the things that a message asks for, and where in it. */
export type Clause = Range & { readonly text: string };

/** A message that asks for more parts than this is taken as a whole beyond. */
export const MAX_CLAUSES = 4;
const MIN_WORDS = 2;

/**
 * The things that one message asks for: "which are missing, and what should they learn first?" is two. What stands in
 * quotes, and the names that are known, are one piece whatever words they hold.
 */
export function clausesOf(message: string, names: readonly Range[] = []): readonly Clause[] {
  return allClausesOf(message, names).slice(0, MAX_CLAUSES);
}

/** The same however many there are; no more than the message has letters. */
export function allClausesOf(message: string, names: readonly Range[] = []): readonly Clause[] {
  const whole = covered(message, [...quotedIn(message), ...names]);
  // Sentences after a colon are the text itself: "sum this up: The sea is wide. We row on."
  const colon = message.search(/:\s/);
  const isFullStopOfText = ({ at }: Range): boolean => message.charAt(at) === "." && colon >= 0 && colon + 1 < at;
  const breaks = [...message.matchAll(BREAK), ...message.matchAll(AND_DO)]
    .map((match) => ({ at: match.index, length: match[0].length }))
    .filter((found) => !isFullStopOfText(found) && !whole.subarray(found.at, found.at + found.length).includes(1))
    .sort((a, b) => a.at - b.at);
  const clauses: Clause[] = [];
  let from = 0;
  for (const { at, length } of [...breaks, { at: message.length, length: 0 }]) {
    const clause = trimmed(message, from, at);
    if (clause.text.split(/\s+/).length >= MIN_WORDS) clauses.push(clause);
    from = Math.max(from, at + length);
  }
  return clauses;
}

export function isWithin(inner: Range, outer: Range): boolean {
  return inner.at >= outer.at && inner.at + inner.length <= outer.at + outer.length;
}

/** The message with nothing where these were, every other letter in its place. */
export function without(message: string, ranges: readonly Range[]): string {
  return ranges.reduce(
    (text, { at, length }) => text.slice(0, at) + " ".repeat(length) + text.slice(at + length),
    message,
  );
}

const BREAK =
  /[;?!]|\.\s|,\s*(?:and|then|so|but)\b|\b(?:and|but)\s+(?=(?:do\s+not|don['’]?t|never)\b)|\b(?:and then|and also|as well as|after that|afterwards|, then)\b|\band\s+(?=(?:what|which|who|how|where|when|then|also|\p{L}+\s+(?:it|them|the|a|an|her|him|his|my|me|us|that)\b))/giu;
/** "and greet Ada", "and count “a b”": a verb, then whom or what. */
const AND_DO = /\b[aA]nd\s+(?=\p{Ll}+\s+(?:\p{Lu}|["“«]))/gu;

/** 1 for each letter that is in one of these, so that asking takes no longer for many of them. */
function covered(message: string, ranges: readonly Range[]): Uint8Array {
  const letters = new Uint8Array(message.length);
  for (const { at, length } of ranges) letters.fill(1, at, at + length);
  return letters;
}

function trimmed(message: string, from: number, to: number): Clause {
  const part = message.slice(from, Math.max(from, to));
  const text = part.trim();
  return { text, at: from + part.length - part.trimStart().length, length: text.length };
}
