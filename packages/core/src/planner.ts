// For hosts: the parts of the planner loop.
export { MAX_PLANNED_TOOLS } from "./planner/planner.ts";
export { describeResult } from "./planner/turn/describe-result.ts";
export { createFinalizeSummary, findingsIn } from "./planner/turn/finalize-summary.ts";
export { readySession } from "./planner/turn/ready-session.ts";
export type { RunPlace } from "./planner/turn/execute-actions.ts";
export { buildPlannerPrompt, type PlannerPrompt } from "./planner/llm/planner-prompt.ts";
export { createModelPlanner, type ModelPlannerDeps } from "./planner/llm/model-planner.ts";
export { createModelRepairer } from "./planner/llm/model-repairer.ts";
export { createOfflinePlanner, type OfflinePlannerDeps } from "./planner/default-planner.ts";
export { createToolEntities, type Entity, ENTITY_SOURCE_TAG, type EntitySource } from "./planner/tool-entities.ts";
export type { Attempt } from "./planner/turn/run-turn.ts";
export {
  createSupabaseActionLog,
  createSupabaseMemory,
  type SupabaseActionLog,
  type SupabaseLike,
  type SupabaseRights,
} from "./planner/supabase-records.ts";
export type { ModelCall, Warning } from "./planner/turn/trace.ts";
