// The one file of core that imports the offline planner, which imports core by type only.
import {
  createOfflinePlanner as createPlanner,
  createToolRanker as createRanker,
  type ToolRanker,
} from "@ergon/offline-planner";
import { type Embedder, similarity } from "../ports/embedder.ts";
import { FINALIZE_TOOL } from "./compile-actions.ts";
import { missingArguments } from "./missing-arguments.ts";
import { MAX_PLANNED_TOOLS, type PlannerAnswer, type PlannerInput } from "./planner.ts";
import type { EntitySource } from "./tool-entities.ts";

export { keywordsOf, recommendedIds, type ToolRanker, wordsOf } from "@ergon/offline-planner";

export type OfflinePlannerDeps = { readonly embedder: Embedder; readonly entities?: EntitySource | undefined };

/** The planner that needs no model; a plan ends with the summary wherever that is among the tools. */
export function createOfflinePlanner(deps: OfflinePlannerDeps): (input: PlannerInput) => Promise<PlannerAnswer> {
  const makePlan = createPlanner({ ...deps, missingArguments, similarity, maxPlannedTools: MAX_PLANNED_TOOLS });
  return async (input) => {
    const tools = input.tools.filter(({ id }) => id !== FINALIZE_TOOL);
    const answer = await makePlan({ ...input, tools });
    if (answer.plan.length === 0 || tools.length === input.tools.length) return answer;
    return { ...answer, plan: [...answer.plan, { tool: FINALIZE_TOOL, args: {} }] };
  };
}

export function createToolRanker(deps: { readonly embedder: Embedder }): ToolRanker {
  return createRanker({ ...deps, similarity });
}
