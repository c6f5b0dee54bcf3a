import type { Json, JsonObject, PlannerInput } from "@ergon/core";
import type { Entity } from "@ergon/core/planner";
import type { CoreFunctions } from "./core-functions.ts";
import { draftAction } from "./draft-action.ts";
import { takesKind } from "./extract-args.ts";
import type { RankedTool } from "./rank-tools.ts";
import type { Wording } from "./wording.ts";

/** From here on a tool is surely meant. */
export const SURE_SCORE = 0.45;
/** What it is worth that a tool takes all that the message names. */
const NAMED_BONUS = 0.2;
/** Tools within this share of the best are about equally near; so many of them are weighed by their arguments. */
const NEAR = 0.6;
const MAX_WEIGHED = 6;
const LACKING = 0.7;
const GIVEN = 0.1;

/** `isGiven`: the message gives all that the tool needs, and something at all. */
export type Weighed = RankedTool & { readonly isGiven?: boolean };

/** The ranking by words and meaning, corrected by what the message names, what it gives, and what was recommended. */
export async function weighTools(ranked: readonly RankedTool[], means: Means): Promise<readonly Weighed[]> {
  const able = await ableFirst(forMentioned(ranked, means.entities), means);
  return boosted(able, recommendedIds(means.input.recommendations));
}

type Means = Pick<CoreFunctions, "missingArguments"> & {
  readonly input: PlannerInput;
  readonly wording: Wording;
  /** What the message names. */
  readonly entities: readonly Entity[];
};

/** A tool that takes what the message names is likelier meant than one that could do nothing with it. */
function forMentioned(ranked: readonly RankedTool[], entities: readonly Entity[]): readonly RankedTool[] {
  if (entities.length === 0) return ranked;
  return ranked
    .map((one) => {
      const taken = entities.filter((entity) => takesKind(one.tool, entity)).length;
      return { ...one, score: Math.min(1, one.score + (NAMED_BONUS * taken) / entities.length) };
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
  { input, wording, missingArguments }: Means,
): Promise<readonly Weighed[]> {
  const top = ranked[0]?.score ?? 0;
  const near = ranked.filter(({ score }) => score > 0 && score >= top * NEAR).slice(0, MAX_WEIGHED);
  const weighed = await Promise.all(
    near.map(async (one) => {
      const action = await draftAction(one, wording, input);
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

/** The tools that recommendations name, in any of the forms that callers use. */
export function recommendedIds(recommendations: readonly Json[]): readonly string[] {
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
