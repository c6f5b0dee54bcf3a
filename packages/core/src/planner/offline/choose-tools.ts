import type { Json, JsonObject } from "../../schema/json.ts";
import type { Tool } from "../../tools/tool.ts";
import { missingArguments } from "../missing-arguments.ts";
import { MAX_PLANNED_TOOLS, type PlannerInput } from "../planner.ts";
import { clausesOf } from "./clauses.ts";
import { draftAction } from "./draft-action.ts";
import { type Entity, mentionsFor, mentionsIn, type Mention } from "./entities.ts";
import { takesKind } from "./extract-args.ts";
import type { RankedTool, ToolRanker } from "./rank-tools.ts";

/** From here on a tool is surely meant; below the second, nothing of the message speaks for it. */
const SURE_SCORE = 0.45;
const MIN_SCORE = 0.28;
/** Enough for a tool that the message gives all it needs. */
const GIVEN_SCORE = 0.15;
/** The best must be ahead of the next by this share to be chosen though it is not sure. */
const AHEAD = 1.15;
/** What it is worth that a tool takes all that the message names. */
const NAMED_BONUS = 0.2;
/** Tools within this share of the best are about equally near; so many of them are weighed by their arguments. */
const NEAR = 0.6;
const MAX_WEIGHED = 6;
const LACKING = 0.7;
const GIVEN = 0.1;
/** Tools named in a question. */
const NAMED = 3;

export type ChosenTools =
  | { readonly kind: "tools"; readonly tools: readonly RankedTool[] }
  /** `nothingFits`: nothing of the message speaks for any tool. */
  | { readonly kind: "unsure"; readonly question: string; readonly nothingFits: boolean };

/** The best tool for each thing that the message asks; what was recommended and fits comes first. */
export async function chooseTools(
  ranker: ToolRanker,
  input: PlannerInput,
  tools: readonly Tool[],
  known: readonly Entity[],
): Promise<ChosenTools> {
  const named = tools.filter(({ id }) => namesTool(input.message, id)).slice(0, MAX_PLANNED_TOOLS);
  if (named.length > 0) return { kind: "tools", tools: named.map((tool) => ({ tool, score: 1, because: [tool.id] })) };
  const recommended = recommendedIds(input.recommendations);
  const mentions = mentionsFor(input, known);
  const kinds = mentionsIn(input.message, known).map(({ entity }) => entity.kind);
  const rank = async (part: string): Promise<readonly Weighed[]> =>
    boosted(await ableFirst(forMentioned(await ranker.rank(part, tools), kinds), input, mentions), recommended);

  const text = withoutNames(input.message, known);
  const whole = await rank(text);
  input.note.ranking?.(whole.map(({ tool }) => tool.id));
  const [best, next] = whole;
  if (best === undefined)
    return { kind: "unsure", question: "There is no tool here that could help.", nothingFits: true };
  const ahead = best.score >= (next?.score ?? 0) * AHEAD;
  const enough = best.isGiven === true ? GIVEN_SCORE : MIN_SCORE;
  if (best.score < SURE_SCORE && !(ahead && best.score >= enough))
    return { kind: "unsure", question: askWhich(whole), nothingFits: best.score < MIN_SCORE };

  const picked = new Map<string, RankedTool>([[best.tool.id, best]]);
  const clauses = clausesOf(text);
  for (const clause of clauses.length > 1 ? clauses : []) {
    const [first, second] = await rank(clause);
    const clear = first !== undefined && first.score >= SURE_SCORE && first.score >= (second?.score ?? 0) * AHEAD;
    if (clear && picked.size < MAX_PLANNED_TOOLS && !picked.has(first.tool.id)) picked.set(first.tool.id, first);
  }
  return { kind: "tools", tools: [...picked.values()] };
}

/** `isGiven`: the message gives all that the tool needs, and something at all. */
type Weighed = RankedTool & { readonly isGiven?: boolean };

/** A tool that takes what the message names is likelier meant than one that could do nothing with it. */
function forMentioned(ranked: readonly RankedTool[], kinds: readonly string[]): readonly RankedTool[] {
  if (kinds.length === 0) return ranked;
  return ranked
    .map((one) => {
      const taken = kinds.filter((kind) => takesKind(one.tool, kind)).length;
      return { ...one, score: Math.min(1, one.score + (NAMED_BONUS * taken) / kinds.length) };
    })
    .toSorted((a, b) => b.score - a.score);
}

/**
 * Among tools that are about equally near, those that the message gives all they need come first, the more it gives the
 * better: "read a.csv" means the tool that takes a file, "which files are there?" the one that takes none. Only the order
 * changes: how sure it is stays what words and meaning say.
 */
async function ableFirst(
  ranked: readonly RankedTool[],
  input: PlannerInput,
  mentions: readonly Mention[],
): Promise<readonly Weighed[]> {
  const top = ranked[0]?.score ?? 0;
  const near = ranked.filter(({ score }) => score > 0 && score >= top * NEAR).slice(0, MAX_WEIGHED);
  const weighed = await Promise.all(
    near.map(async (one) => {
      const action = await draftAction(one, input, mentions);
      const lacks = (await missingArguments([action], input)).size > 0;
      const given = Object.keys(action.args).length;
      const weight = one.score * (lacks ? LACKING : 1 + GIVEN * Math.min(given, 3));
      return { one: { ...one, isGiven: given > 0 && !lacks }, weight };
    }),
  );
  const [first, ...others] = weighed.toSorted((a, b) => b.weight - a.weight).map(({ one }) => one);
  if (first === undefined) return ranked;
  return [{ ...first, score: top }, ...others, ...ranked.slice(near.length)];
}

/** A message that writes a tool's id means that tool. */
function namesTool(message: string, id: string): boolean {
  if (id.length < 4 || !/[A-Z_:]/.test(id)) return false;
  const at = message.indexOf(id);
  return at >= 0 && !/[\w:]/.test(`${message.charAt(at - 1)}${message.charAt(at + id.length)}`);
}

function recommendedIds(recommendations: readonly Json[]): readonly string[] {
  return recommendations.flatMap((entry) => {
    if (typeof entry === "string") return [entry];
    const { tool, id, actionId, type } = (entry ?? {}) as JsonObject;
    return [tool, id, actionId, type].filter((found) => typeof found === "string").slice(0, 1);
  });
}

/** What was recommended ranks first, in the order in which it was. */
function boosted(ranked: readonly Weighed[], recommended: readonly string[]): readonly Weighed[] {
  if (recommended.length === 0) return ranked;
  const place = ({ tool }: RankedTool): number => {
    const at = recommended.indexOf(tool.id);
    return at < 0 ? recommended.length : at;
  };
  return ranked
    .map((one) => (recommended.includes(one.tool.id) ? { ...one, score: Math.max(one.score, SURE_SCORE) } : one))
    .toSorted((a, b) => place(a) - place(b));
}

/** Names say whom it is about, not what is to be done; left in, they would speak for whatever tool shares a word. */
function withoutNames(message: string, known: readonly Entity[]): string {
  let text = message;
  for (const { at, length } of mentionsIn(message, known).toReversed()) {
    text = `${text.slice(0, at)}${text.slice(at + length)}`;
  }
  return text.trim() === "" ? message : text;
}

function askWhich(ranked: readonly RankedTool[]): string {
  const near = ranked.slice(0, NAMED).map(({ tool }) => `"${tool.title}" (${tool.id})`);
  return `I am not sure what you want. Closest are ${near.join(", ")}. Which of them, or can you say it in other words?`;
}
