import type { Tool } from "../../tools/tool.ts";
import { FINALIZE_TOOL } from "../compile-actions.ts";
import { createToolRanker, keywordsOf, recommendedIds, type ToolRanker, wordsOf } from "../default-planner.ts";
import type { Embedder } from "../../ports/embedder.ts";
import type { PlannerInput } from "../planner.ts";

/** More tools than this are narrowed to the nearest, by words and by meaning. */
export const MAX_OFFERED_TOOLS = 40;
/** A tool with this tag is offered only where the message speaks of it. */
const ON_REQUEST_TAG = "on-request";

export type OfferTools = (input: PlannerInput) => Promise<readonly Tool[]>;

/** The tools that a model is shown for a message. Others can still be planned by their ids. */
export function createToolOffer({ embedder }: { readonly embedder: Embedder }): OfferTools {
  const ranker = createToolRanker({ embedder });
  return async (input) => {
    const wanted = new Set([
      ...keywordsOf(input.message),
      ...recommendedIds(input.recommendations).flatMap(keywordsOf),
    ]);
    const tools = input.tools.filter((tool) => !tool.tags.includes(ON_REQUEST_TAG) || isSpokenOf(tool, wanted));
    if (tools.length <= MAX_OFFERED_TOOLS) return tools;
    const text = `${String(MAX_OFFERED_TOOLS)} of ${String(tools.length)} tools were offered to the model: those nearest to the message.`;
    input.note.warning({ code: "tools_narrowed", message: text });
    return await nearest(ranker, input, tools);
  };
}

async function nearest(ranker: ToolRanker, input: PlannerInput, tools: readonly Tool[]): Promise<readonly Tool[]> {
  const recommended = new Set(recommendedIds(input.recommendations));
  const always = ({ id }: Tool): boolean => id === FINALIZE_TOOL || recommended.has(id) || input.message.includes(id);
  const ranked = (await ranker.rank(input.message, tools)).map(({ tool }) => tool);
  const kept = new Set(
    [...ranked.filter(always), ...ranked.filter((tool) => !always(tool))].slice(0, MAX_OFFERED_TOOLS),
  );
  return tools.filter((tool) => kept.has(tool));
}

function isSpokenOf({ id, title, tags }: Tool, wanted: ReadonlySet<string>): boolean {
  const own = tags.filter((tag) => tag !== ON_REQUEST_TAG);
  return keywordsOf([...wordsOf(id), title, ...own].join(" ")).some((word) => wanted.has(word));
}
