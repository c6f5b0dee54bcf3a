import type { Json, JsonObject, PlannedAction, PlannerInput, Tool } from "@ergon/core";
import { extractArgs } from "./extract-args.ts";
import type { RankedTool } from "./rank-tools.ts";
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

/** Found arguments that the tool's own schema would refuse are not taken for known. */
async function validArgs(tool: Tool, found: JsonObject, context: JsonObject): Promise<Record<string, Json>> {
  const kept: Record<string, Json> = { ...found };
  try {
    const { validateArgs, defaultArgs } = await tool.body();
    const defaults: unknown = defaultArgs?.(context);
    const merged = { ...(typeof defaults === "object" ? defaults : {}), ...kept };
    const checked = validateArgs(merged);
    if (checked.ok) return kept;
    for (const { path } of checked.issues) {
      const [, name = ""] = path.split("/");
      delete kept[name.replaceAll("~1", "/").replaceAll("~0", "~")];
    }
    return kept;
  } catch {
    // The gate will say what is wrong with this tool.
    return kept;
  }
}
