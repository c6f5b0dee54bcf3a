import type { PlannedAction, PlannerInput, Tool } from "@ergon/core";
import { extractArgs } from "./extract-args.ts";
import type { RankedTool } from "./rank-tools.ts";
import { validArgs } from "./valid-args.ts";
import type { Wording } from "./wording.ts";

/** A call of a tool with what its part of the message says for its arguments. */
export async function draftAction(
  { tool, score, because }: RankedTool,
  wording: Wording,
  { context }: PlannerInput,
): Promise<PlannedAction> {
  const args = await validArgs(tool, extractArgs(tool, wording), context);
  const words = because.slice(0, 5).join(", ");
  const reason = `offline planner: ${words === "" ? "closest in meaning" : `matches ${words}`} (${score.toFixed(2)})`;
  return { tool: tool.id, args, reason, announcement: announced(tool) };
}

function announced({ title, id }: Tool): string {
  return title === id ? `I use ${id}.` : `${title}.`;
}
