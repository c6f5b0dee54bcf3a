import { type Clause, isWithin, without } from "./clauses.ts";
import type { Mention, Mentions } from "./entities.ts";

/** What of a message speaks of one tool, the surest first. */
export type Wording = {
  /** The clause that named the tool; the whole message where it names only one. */
  readonly own: string;
  /** What belongs to no other tool's clause. */
  readonly beside: string;
  /** The other tools' clauses, where the own one points back at them: "and translate it". */
  readonly before: string;
  /** Names in the own clause come before the others. */
  readonly mentions: readonly Mention[];
};

/** The whole message speaks of the one tool. */
export function wholeWording(message: string, { named, earlier }: Mentions): Wording {
  return { own: message, beside: "", before: "", mentions: [...named, ...earlier] };
}

/** `others`: the clauses that named other tools. */
export function clauseWording(
  message: string,
  clause: Clause,
  { others, mentions: { named, earlier } }: { readonly others: readonly Clause[]; readonly mentions: Mentions },
): Wording {
  const inside = named.filter((mention) => isWithin(mention, clause));
  return {
    own: clause.text,
    beside: without(message, [...others, clause]).trim(),
    before: POINTS_BACK.test(clause.text) ? without(message, [clause]).trim() : "",
    mentions: [...inside, ...named.filter((mention) => !inside.includes(mention)), ...earlier],
  };
}

const POINTS_BACK = /\b(?:it|its|this|that|these|those|them|they|their|he|him|his|she|her|same)\b/iu;
