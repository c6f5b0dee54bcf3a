/*
 * The planner that needs no model. It ranks tools by words and meaning, takes arguments from the message, the context and
 * the tools' own defaults, and orders what it chose along the tools' pathways.
 *
 * It guesses no argument and no tool: what it is not sure of it asks.
 */
import type { Embedder, PlannedAction, PlannerAnswer, PlannerInput, Tool } from "@ergon/core";
import type { Entity, EntitySource } from "@ergon/core/planner";
import { without } from "./clauses.ts";
import { chooseTools } from "./choose-tools.ts";
import type { CoreFunctions } from "./core-functions.ts";
import { draftAction } from "./draft-action.ts";
import { inPathwayOrder } from "./pathway-order.ts";
import { createToolRanker, type ToolRanker } from "./rank-tools.ts";
import { saidOnce } from "./said-once.ts";
import { spansOf } from "./spans.ts";
import { ordersOther, type Uncovered, uncoveredOf, verbsOf } from "./uncovered.ts";
import { wantedOf } from "./unwanted.ts";

/** Tools that may be meant, names aside: with this score at least, and this share of the best one's. */
const MAYBE_SCORE = 0.08;
const MAYBE_SHARE = 0.25;

export type OfflinePlannerDeps = CoreFunctions & {
  readonly embedder: Embedder;
  readonly entities?: EntitySource | undefined;
};

export function createOfflinePlanner(deps: OfflinePlannerDeps): (input: PlannerInput) => Promise<PlannerAnswer> {
  const { entities = async () => [], maxPlannedTools, missingArguments } = deps;
  const ranker = createToolRanker(deps);
  return async (given) => {
    const input = { ...given, message: wantedOf(given.message) };
    if (input.message === "" && given.message.trim() !== "") return { plan: [], question: NOTHING_LEFT };
    const { tools } = input;
    if (ASKS_WHAT.test(input.message)) return { plan: [], question: listed(tools), isAnswer: true };
    const uncovered = uncoveredOf(input.message, tools);
    const told = notCovered(uncovered);
    input.message = without(
      input.message,
      uncovered.map(({ clause }) => clause),
    ).trim();
    if (!/\p{L}{2}/u.test(input.message.replaceAll(JOINS, "")) && told.length > 0)
      return { plan: [], question: told.join(" "), nothingFits: true };
    const candidates = await maybeMeant(ranker, input, maxPlannedTools);
    const known = await knownEntities(entities, input, candidates);
    const chosen = await chooseTools(ranker, input, tools, { ...deps, known });
    if (chosen.kind === "unsure") {
      const { question, nothingFits } = chosen;
      return { plan: [], question: [...told, question].join(" "), ...(nothingFits ? { nothingFits } : {}) };
    }
    // Another tool may do what the verb says; one that does not must not be taken for it.
    const verbs = verbsOf(known);
    const fitting = chosen.tools.filter(({ tool, wording }) => !ordersOther(wording.own, tool, verbs));
    const dropped = chosen.tools.filter((one) => !fitting.includes(one));
    told.push(...notCovered(dropped.flatMap(({ tool, wording }) => uncoveredOf(wording.own, [tool], verbs))));
    if (fitting.length === 0) return { plan: [], question: told.join(" "), nothingFits: true };
    const ordered = inPathwayOrder(fitting);
    const drafts = await Promise.all(ordered.map((one) => draftAction(one, one.wording, input)));
    const answer = await settled(saidOnce(drafts), input, missingArguments);
    if (answer.plan.length === 0) return { ...answer, question: [...told, answer.question ?? ""].join(" ").trim() };
    const passed = chosen.passedOver.map((text) => `I did not do "${shortened(text)}".`);
    return {
      ...answer,
      leftOut: [...told, ...passed, ...(answer.leftOut ?? []), ...unusedQuotes(input.message, answer)],
    };
  };
}

/** "What can you do?", in its usual forms. */
const ASKS_WHAT =
  /^\s*(?:(?:hi|hello|hey)[\s,!.]+)?(?:help|(?:what|which(?:\s+things|\s+tools)?)\s+(?:all\s+)?(?:can|could|do|are)\s+you\s+(?:do|help(?:\s+me)?\s+with|have|offer|able\s+to\s+do)|(?:what|which)\s+tools\s+(?:are\s+there|do\s+you\s+have|can\s+you\s+use)|list\s+(?:all\s+|your\s+|the\s+)*tools)(?:\s+for\s+me)?\s*[?.!]*\s*$/iu;
const MAX_LISTED = 40;
const MAX_QUOTED = 100;
const JOINS = /\b(?:and|but|so|then|please|also)\b/giu;

function listed(tools: readonly Tool[]): string {
  if (tools.length === 0) return "There is no tool here.";
  const lines = tools.slice(0, MAX_LISTED).map(({ id, title }) => `- ${title} (${id})`);
  const more = tools.length > MAX_LISTED ? [`and ${String(tools.length - MAX_LISTED)} more`] : [];
  return [`I have ${String(tools.length)} tools:`, ...lines, ...more].join("\n");
}

/** What the person put into quotes and no call takes. */
function unusedQuotes(message: string, { plan }: PlannerAnswer): readonly string[] {
  const taken = JSON.stringify(plan.map(({ args }) => args));
  return spansOf(message)
    .quoted.filter((text) => !taken.includes(JSON.stringify(text).slice(1, -1)))
    .map((text) => `I had no use for "${shortened(text)}".`);
}

function notCovered(uncovered: readonly Uncovered[]): string[] {
  const lines = uncovered.map(
    ({ clause, verb }) => `I left out "${shortened(clause.text)}": no tool here can ${verb} that.`,
  );
  return [...new Set(lines)];
}

function shortened(text: string): string {
  return text.length <= MAX_QUOTED ? text : `${text.slice(0, MAX_QUOTED)}…`;
}

const NOTHING_LEFT = "I leave that alone. What should I do instead?";

/** Names are looked up only where a tool that may be meant could use them: their database may have to be started. */
async function maybeMeant(
  ranker: ToolRanker,
  { message, tools }: PlannerInput,
  most: number,
): Promise<readonly Tool[]> {
  const ranked = await ranker.rank(message, tools);
  const enough = Math.max(MAYBE_SCORE, (ranked[0]?.score ?? 0) * MAYBE_SHARE);
  return ranked
    .filter(({ score }) => score >= enough)
    .slice(0, most)
    .map(({ tool }) => tool);
}

async function knownEntities(
  entities: EntitySource,
  { note }: PlannerInput,
  tools: readonly Tool[],
): Promise<readonly Entity[]> {
  try {
    return tools.length === 0 ? [] : await entities(tools);
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : "unknown";
    note.warning({ code: "entities_unavailable", message: `Names could not be looked up: ${reason}` });
    return [];
  }
}

/** Tools that lack an argument are not run: it is asked for. */
async function settled(
  plan: readonly PlannedAction[],
  input: PlannerInput,
  missingArguments: CoreFunctions["missingArguments"],
): Promise<PlannerAnswer> {
  const lacking = await missingArguments(plan, input);
  const able = plan.filter((action) => !lacking.has(action));
  const question = [...lacking].map(([{ tool }, names]) => askFor(input.tools, tool, names)).join(" ");
  if (able.length === 0) return { plan: [], question };
  if (question !== "") input.note.warning({ code: "argument_unknown", message: question });
  const leftOut = question === "" ? {} : { leftOut: [question] };
  return { plan: able, ...leftOut };
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
