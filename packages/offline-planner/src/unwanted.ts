import { allClausesOf, without } from "./clauses.ts";

/** The message without what it says not to do; empty when that was all. */
export function wantedOf(message: string): string {
  const refused = allClausesOf(message).filter(({ text }) => REFUSES.test(text) && !MEANS_DO.test(text));
  if (refused.length === 0) return message;
  const left = without(message, refused).trim();
  return /\p{L}|\p{N}/u.test(left.replaceAll(JOINS, "")) ? left : "";
}

const REFUSES =
  /^(?:(?:but|and|so|then|please|also|you)[\s,]+)*(?:do\s+not|don['’]?t|never|no\s+need\s+to|(?:must|should|may|need)(?:\s+not|n['’]?t))\b/iu;
/** "Don't forget to …" asks for it, and "don't you …?" is a question. */
const MEANS_DO = /^[\p{L}\s,]*?(?:not|don['’]?t|never)\s+(?:forget|hesitate|fail|you|we|they)\b/iu;
const JOINS = /\b(?:and|but|so|then|please|also)\b/giu;
