export { createOfflinePlanner, type OfflinePlannerDeps } from "./offline-planner.ts";
export { createToolRanker, type RankedTool, type ToolRanker } from "./rank-tools.ts";
export { recommendedIds } from "./weigh-tools.ts";
export { keywordsOf, wordsOf } from "./words.ts";
