import type { PlannerInput, Tool } from "@ergon/core";
import type { Entity } from "@ergon/core/planner";
import { clausesOf, isWithin } from "./clauses.ts";
import type { CoreFunctions } from "./core-functions.ts";
import { mentionsFor } from "./entities.ts";
import type { RankedTool, ToolRanker } from "./rank-tools.ts";
import type { Range } from "./spans.ts";
import { type ChosenTool, type Heard, type Named, tellApart, worded } from "./tell-apart.ts";
import { SURE_SCORE, type Weighed, weighTools } from "./weigh-tools.ts";
import { clauseWording, wholeWording, type Wording } from "./wording.ts";

/** Below this, nothing of the message speaks for a tool. */
const MIN_SCORE = 0.28;
/** Enough for a tool that the message gives all it needs. */
const GIVEN_SCORE = 0.15;
/** The best must be ahead of the next by this share to be chosen though it is not sure. */
const AHEAD = 1.15;
/** Tools named in a question. */
const NAMED = 3;

export type ChosenTools =
  /** `passedOver`: the parts of the message that seem to want a tool which was not chosen. */
  | { readonly kind: "tools"; readonly tools: readonly ChosenTool[]; readonly passedOver: readonly string[] }
  /** `nothingFits`: nothing of the message speaks for any tool. */
  | { readonly kind: "unsure"; readonly question: string; readonly nothingFits: boolean };

/** The best tool for each thing that the message asks; what was recommended and fits comes first. */
export async function chooseTools(
  ranker: ToolRanker,
  input: PlannerInput,
  tools: readonly Tool[],
  { known, missingArguments, maxPlannedTools }: CoreFunctions & { readonly known: readonly Entity[] },
): Promise<ChosenTools> {
  const { message } = input;
  const mentions = mentionsFor(input, known);
  const clauses = clausesOf(message, mentions.named);
  const byId = tools.filter(({ id }) => namesTool(message, id)).slice(0, maxPlannedTools);
  if (byId.length > 0) {
    const named = byId.map((tool) => ({
      ranked: { tool, score: 1, because: [tool.id] },
      clause: clauses.find(({ text }) => namesTool(text, tool.id)),
    }));
    return { kind: "tools", tools: worded(message, named, mentions), passedOver: [] };
  }
  const entities = mentions.named.map(({ entity }) => entity);
  const rank = async (part: string, wording: Wording): Promise<readonly Weighed[]> =>
    await weighTools(await ranker.rank(part, tools), { input, wording, entities, missingArguments });

  const whole = await rank(withoutNames(message, mentions.named), wholeWording(message, mentions));
  input.note.ranking?.(whole.map(({ tool }) => tool.id));
  if (whole.length === 0)
    return { kind: "unsure", question: "There is no tool here that could help.", nothingFits: true };
  const heard: Heard[] = [];
  for (const clause of clauses.length > 1 ? clauses : []) {
    const bare = withoutNames(clause.text, within(clause, mentions.named));
    const ranked = await rank(bare, clauseWording(message, clause, { others: [], mentions }));
    heard.push({ clause, ranked, isClear: isClear(ranked) });
  }
  // Of two things that it asks, the whole message may mean neither clearly.
  const best = isSure(whole) ? whole[0] : heard.find((clause) => clause.isClear)?.ranked[0];
  if (best === undefined)
    return { kind: "unsure", question: askWhich(whole), nothingFits: (whole[0]?.score ?? 0) < MIN_SCORE };
  const named = tellApart(best, heard, maxPlannedTools);
  return { kind: "tools", tools: worded(message, named, mentions), passedOver: passedOver(named, heard) };
}

/** A clause that names no chosen tool, and of which another tool is likely meant. */
function passedOver(named: readonly Named[], heard: readonly Heard[]): readonly string[] {
  const chosen = new Set(named.map(({ ranked }) => ranked.tool.id));
  const clauses = new Set(named.map(({ clause }) => clause));
  return heard
    .filter(({ clause, ranked: [first] }) => {
      if (first === undefined || clauses.has(clause)) return false;
      return first.score >= MIN_SCORE && !chosen.has(first.tool.id);
    })
    .map(({ clause }) => clause.text);
}

function isSure(ranked: readonly Weighed[]): boolean {
  const [best] = ranked;
  if (best === undefined) return false;
  return (
    best.score >= SURE_SCORE || (isAhead(ranked) && best.score >= (best.isGiven === true ? GIVEN_SCORE : MIN_SCORE))
  );
}

/** Of a part of a message more is asked than of the whole: that at least means something. */
function isClear(ranked: readonly Weighed[]): boolean {
  const [best] = ranked;
  return best !== undefined && isAhead(ranked) && best.score >= (best.isGiven === true ? MIN_SCORE : SURE_SCORE);
}

function isAhead([best, next]: readonly Weighed[]): boolean {
  return best !== undefined && best.score >= (next?.score ?? 0) * AHEAD;
}

/** A message that writes a tool's id means that tool. */
function namesTool(message: string, id: string): boolean {
  if (id.length < 4 || !/[A-Z_:]/.test(id)) return false;
  const at = message.indexOf(id);
  return at >= 0 && !/[\w:]/.test(`${message.charAt(at - 1)}${message.charAt(at + id.length)}`);
}

/** Names say whom it is about, not what is to be done; left in, they would speak for whatever tool shares a word. */
function withoutNames(text: string, names: readonly Range[]): string {
  const bare = names.toReversed().reduce((left, { at, length }) => left.slice(0, at) + left.slice(at + length), text);
  return bare.trim() === "" ? text : bare;
}

/** Where in the clause these are. */
function within(clause: Range, names: readonly Range[]): readonly Range[] {
  return names.filter((name) => isWithin(name, clause)).map(({ at, length }) => ({ at: at - clause.at, length }));
}

function askWhich(ranked: readonly RankedTool[]): string {
  const near = ranked.slice(0, NAMED).map(({ tool }) => `"${tool.title}" (${tool.id})`);
  return `I am not sure what you want. Closest are ${near.join(", ")}. Which of them, or can you say it in other words?`;
}
