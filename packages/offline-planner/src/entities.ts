import type { PlannerInput } from "@ergon/core";
import type { Entity } from "@ergon/core/planner";
import { typosBetween } from "./typos.ts";

export type Mention = { readonly entity: Entity; readonly at: number; readonly length: number; readonly typos: number };

export type Mentions = { readonly named: readonly Mention[]; readonly earlier: readonly Mention[] };

/** Looked through for each message; what is beyond is not recognised. */
export const MAX_ENTITIES = 20_000;

/**
 * The entities that a text names, in the order in which it does. A name may have small typos: one for each five
 * letters. Where one name lies inside another ("Engineer" in "Data Engineer"), the longer one is meant.
 */
export function mentionsIn(text: string, entities: readonly Entity[]): readonly Mention[] {
  const tokens = tokensOf(text);
  const found = entities.slice(0, MAX_ENTITIES).flatMap((entity) => {
    const byName = bestWindow(tokens, tokensOf(entity.name));
    const byId = entity.id === entity.name ? undefined : exactId(text, entity.id);
    const mention = byName ?? byId;
    return mention === undefined ? [] : [{ entity, ...mention }];
  });
  const sure = found.toSorted((a, b) => b.length - a.length || a.typos - b.typos);
  const kept: Mention[] = [];
  for (const mention of sure) {
    const taken = kept.some((other) => other.at < mention.at + mention.length && mention.at < other.at + other.length);
    if (!taken) kept.push(mention);
  }
  return kept.sort((a, b) => a.at - b.at);
}

type Token = { readonly word: string; readonly at: number; readonly end: number };
type Place = Omit<Mention, "entity">;

function tokensOf(text: string): readonly Token[] {
  return [...text.matchAll(/[\p{L}\p{N}]+/gu)].map((match) => {
    const word = match[0].normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
    return { word, at: match.index, end: match.index + match[0].length };
  });
}

/** A whole name, word by word; or, for names of several words, its first alone when that is long enough. */
function bestWindow(tokens: readonly Token[], name: readonly Token[]): Place | undefined {
  if (name.length === 0) return undefined;
  let best: Place | undefined;
  for (let start = 0; start + name.length <= tokens.length; start += 1) {
    const place = windowAt(tokens, start, name);
    if (place !== undefined && (best === undefined || place.typos < best.typos)) best = place;
  }
  return best;
}

function windowAt(tokens: readonly Token[], start: number, name: readonly Token[]): Place | undefined {
  let typos = 0;
  for (const [at, { word }] of name.entries()) {
    const said = tokens[start + at]?.word ?? "";
    const allowed = Math.floor(word.length / 5) + (word.length >= 4 ? 1 : 0);
    const distance = sameWord(said, word) ? 0 : typosBetween(said, word, allowed);
    if (distance > allowed) return undefined;
    typos += distance;
  }
  const first = tokens[start];
  const last = tokens[start + name.length - 1];
  if (first === undefined || last === undefined) return undefined;
  // Short names must be said as they are: "Ana" is not "and".
  const letters = name.reduce((sum, { word }) => sum + word.length, 0);
  if (typos > Math.floor(letters / 5)) return undefined;
  return { at: first.at, length: last.end - first.at, typos };
}

/** A possessive or a plural is the same name. */
function sameWord(said: string, word: string): boolean {
  return said === word || said === `${word}s`;
}

function exactId(text: string, id: string): Place | undefined {
  if (id.length < 3) return undefined;
  const at = text.indexOf(id);
  if (at < 0) return undefined;
  const around = `${text.charAt(at - 1)}${text.charAt(at + id.length)}`;
  return /[\p{L}\p{N}_-]/u.test(around) ? undefined : { at, length: id.length, typos: 0 };
}

/** Whom this message names, and whom the messages before did, the latest first: "and for her?" means them. */
export function mentionsFor(
  { message, conversation }: Pick<PlannerInput, "message" | "conversation">,
  known: readonly Entity[],
): Mentions {
  const earlier = conversation.recentMessages.toReversed().flatMap(({ content }) => mentionsIn(content, known));
  return { named: mentionsIn(message, known), earlier };
}
