/*
 * The planner that needs no model. It ranks tools by words and meaning, takes arguments from the message, the context and
 * the tools' own defaults, and orders what it chose along the tools' pathways.
 *
 * It guesses no argument and no tool: what it is not sure of it asks.
 */
import type { Embedder } from "../../ports/embedder.ts";
import type { Json, JsonObject } from "../../schema/json.ts";
import type { PlannedAction } from "../../schema/mcp-loop.ts";
import type { Tool } from "../../tools/tool.ts";
import { FINALIZE_TOOL } from "../compile-actions.ts";
import { missingArguments } from "../missing-arguments.ts";
import { MAX_PLANNED_TOOLS, type Planner, type PlannerAnswer, type PlannerInput } from "../planner.ts";
import { clausesOf } from "./clauses.ts";
import { type Entity, type EntitySource, type Mention, mentionsIn } from "./entities.ts";
import { extractArgs, takesKind } from "./extract-args.ts";
import { inPathwayOrder } from "./pathway-order.ts";
import { createToolRanker, type RankedTool, type ToolRanker } from "./rank-tools.ts";
import { validArgs } from "./valid-args.ts";

/** Below this nothing of the message speaks for a tool; from the second on it surely means it. */
const MIN_SCORE = 0.3;
const SURE_SCORE = 0.45;
/** The best must be ahead of the next by this share to be chosen though it is not sure. */
const AHEAD = 1.15;
/** What it is worth that a tool takes all that the message names. */
const NAMED_BONUS = 0.2;
/** Tools named in a question. */
const NAMED = 3;

export type OfflinePlannerDeps = { readonly embedder: Embedder; readonly entities?: EntitySource };

export function createOfflinePlanner({ embedder, entities = async () => [] }: OfflinePlannerDeps): Planner {
  const ranker = createToolRanker({ embedder });
  return async (input) => {
    const tools = input.tools.filter(({ id }) => id !== FINALIZE_TOOL);
    const known = await knownEntities(entities, input);
    const chosen = await chooseTools(ranker, input, tools, known);
    if (chosen.kind === "unsure") return { plan: [], question: chosen.question };
    const mentions = mentionsFor(input, known);
    const drafted = await Promise.all(inPathwayOrder(chosen.tools).map((ranked) => draft(ranked, input, mentions)));
    return await settled(drafted, input);
  };
}

type Chosen =
  | { readonly kind: "tools"; readonly tools: readonly RankedTool[] }
  | { readonly kind: "unsure"; readonly question: string };

/** The best tool for each thing that the message asks; what was recommended and fits comes first. */
async function chooseTools(
  ranker: ToolRanker,
  input: PlannerInput,
  tools: readonly Tool[],
  known: readonly Entity[],
): Promise<Chosen> {
  const named = tools.filter(({ id }) => namesTool(input.message, id));
  if (named.length > 0)
    return {
      kind: "tools",
      tools: named.slice(0, MAX_PLANNED_TOOLS).map((tool) => ({ tool, score: 1, because: [tool.id] })),
    };
  const recommended = recommendedIds(input.recommendations);
  const text = withoutNames(input.message, known);
  const mentioned = mentionsIn(input.message, known).map(({ entity }) => entity.kind);
  const rank = async (part: string): Promise<readonly RankedTool[]> =>
    boosted(forMentioned(await ranker.rank(part, tools), mentioned), recommended);
  const whole = await rank(text);
  const [best, next] = whole;
  if (best === undefined) return { kind: "unsure", question: "There is no tool here that could help." };
  const isSure = best.score >= SURE_SCORE || (best.score >= MIN_SCORE && best.score >= (next?.score ?? 0) * AHEAD);
  if (!isSure) return { kind: "unsure", question: askWhich(whole) };
  const picked = new Map([[best.tool.id, best]]);
  const clauses = clausesOf(text);
  if (clauses.length > 1) {
    for (const clause of clauses) {
      const [first, second] = await rank(clause);
      const clear = first !== undefined && first.score >= SURE_SCORE && first.score >= (second?.score ?? 0) * AHEAD;
      if (clear && picked.size < MAX_PLANNED_TOOLS) picked.set(first.tool.id, picked.get(first.tool.id) ?? first);
    }
  }
  return { kind: "tools", tools: [...picked.values()] };
}

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
function boosted(ranked: readonly RankedTool[], recommended: readonly string[]): readonly RankedTool[] {
  if (recommended.length === 0) return ranked;
  const place = ({ tool }: RankedTool): number => {
    const at = recommended.indexOf(tool.id);
    return at < 0 ? recommended.length : at;
  };
  return ranked
    .map((one) => (recommended.includes(one.tool.id) ? { ...one, score: Math.max(one.score, SURE_SCORE) } : one))
    .toSorted((a, b) => place(a) - place(b) || b.score - a.score);
}

/** Names say whom it is about, not what is to be done; left in, they would speak for whatever tool shares a word. */
function withoutNames(message: string, known: readonly Entity[]): string {
  let text = message;
  for (const { at, length } of mentionsIn(message, known).toReversed()) {
    text = `${text.slice(0, at)}${text.slice(at + length)}`;
  }
  return text.trim() === "" ? message : text;
}

async function knownEntities(entities: EntitySource, { note }: PlannerInput): Promise<readonly Entity[]> {
  try {
    return await entities();
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : "unknown";
    note.warning({ code: "entities_unavailable", message: `Names could not be looked up: ${reason}` });
    return [];
  }
}

/** Whom this message names, then whom the messages before did, the latest first: "and for her?" means them. */
function mentionsFor({ message, conversation }: PlannerInput, known: readonly Entity[]): readonly Mention[] {
  const now = mentionsIn(message, known);
  const said = conversation.recentMessages.toReversed().flatMap(({ content }) => mentionsIn(content, known));
  return [...now, ...said];
}

type Draft = { readonly action: PlannedAction; readonly ranked: RankedTool };

async function draft(ranked: RankedTool, input: PlannerInput, mentions: readonly Mention[]): Promise<Draft> {
  const { tool, score, because } = ranked;
  const args = await validArgs(tool, extractArgs(tool, input.message, mentions), input.context);
  const words = [...new Set(because)].slice(0, 5).join(", ");
  const reason = `offline planner: ${words === "" ? "closest in meaning" : `matches ${words}`} (${score.toFixed(2)})`;
  return { action: { tool: tool.id, args, reason, announcement: announced(tool) }, ranked };
}

function announced({ title, id }: Tool): string {
  return title === id ? `I use ${id}.` : `${title}.`;
}

/** Tools that lack an argument are not run: it is asked for. */
async function settled(drafted: readonly Draft[], input: PlannerInput): Promise<PlannerAnswer> {
  const plan = drafted.map(({ action }) => action);
  const lacking = await missingArguments(plan, input);
  const able = plan.filter((action) => !lacking.has(action));
  const question = [...lacking].map(([{ tool }, names]) => askFor(input.tools, tool, names)).join(" ");
  if (able.length === 0) return { plan: [], question };
  if (question !== "") input.note.warning({ code: "argument_unknown", message: question });
  const summary = input.tools.some(({ id }) => id === FINALIZE_TOOL);
  return { plan: [...able, ...(summary ? [{ tool: FINALIZE_TOOL, args: {} }] : [])] };
}

function askWhich(ranked: readonly RankedTool[]): string {
  const near = ranked.slice(0, NAMED).map(({ tool }) => `"${tool.title}" (${tool.id})`);
  return `I am not sure what you want. Closest are ${near.join(", ")}. Which of them, or can you say it in other words?`;
}

function askFor(tools: readonly Tool[], toolId: string, names: readonly string[]): string {
  const tool = tools.find(({ id }) => id === toolId);
  const { properties } = (tool?.parameters ?? {}) as {
    readonly properties?: Readonly<Record<string, { readonly description?: string }>>;
  };
  const wanted = names.map((name) => {
    const { description } = properties?.[name] ?? {};
    return description === undefined ? name : `${name} (${description})`;
  });
  return `To use "${tool?.title ?? toolId}" I need ${wanted.join(" and ")}.`;
}
