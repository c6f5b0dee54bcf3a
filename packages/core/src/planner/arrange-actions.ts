import type { PlannedAction } from "../schema/mcp-loop.ts";
import { didYouMean } from "../schema/values/suggest.ts";
import type { Tool } from "../tools/tool.ts";
import { FINALIZE_TOOL } from "./compile-actions.ts";

export type Arranged = {
  /** What will run, in order: known tools, the summary once and last. */
  readonly runnable: readonly PlannedAction[];
  /** What will not, with the reason. */
  readonly unknown: readonly { readonly action: PlannedAction; readonly reason: string }[];
};

/** Tool ids are checked before any step runs. */
export function arrangeActions(plan: readonly PlannedAction[], tools: readonly Tool[]): Arranged {
  const ids = tools.map(({ id }) => id);
  const known = new Set(ids);
  const unknown = plan
    .filter(({ tool }) => !known.has(tool))
    .map((action) => ({ action, reason: `There is no tool "${action.tool}" here.${didYouMean(action.tool, ids)}` }));
  const usable = plan.filter(({ tool }) => known.has(tool));
  const finalize = usable.filter(({ tool }) => tool === FINALIZE_TOOL).slice(-1);
  return { runnable: [...usable.filter(({ tool }) => tool !== FINALIZE_TOOL), ...finalize], unknown };
}
