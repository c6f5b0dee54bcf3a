import type { JsonSchema } from "../schema/values/json.ts";
import type { PlannedAction } from "../schema/mcp-loop.ts";
import type { Tool } from "../tools/tool.ts";
import type { PlannerInput } from "./planner.ts";

/**
 * The actions that cannot run because a required argument is neither given nor among their defaults. An action that
 * others of the plan prepare is given the benefit of the doubt: its defaults may come from what they find.
 */
export async function missingArguments(
  plan: readonly PlannedAction[],
  { tools, context }: Pick<PlannerInput, "tools" | "context">,
): Promise<ReadonlyMap<PlannedAction, readonly string[]>> {
  const byId = new Map(tools.map((tool) => [tool.id, tool]));
  const lacking = new Map<PlannedAction, readonly string[]>();
  const earlier = new Set<string>();
  for (const action of plan) {
    const tool = byId.get(action.tool);
    const required = tool === undefined ? [] : requiredNames(tool.parameters);
    const given = required.filter((name) => action.args[name] === undefined);
    if (tool !== undefined && given.length > 0) {
      const { names: defaults, has } = await defaultNames(tool, context);
      const missing = given.filter((name) => !defaults.has(name));
      const prepared = has && tool.suggestedPrerequisites.some((id) => earlier.has(id));
      if (missing.length > 0 && !prepared) lacking.set(action, missing);
    }
    if (!lacking.has(action)) earlier.add(action.tool);
  }
  return lacking;
}

function requiredNames(parameters: JsonSchema): readonly string[] {
  if (typeof parameters === "boolean") return [];
  const { required } = parameters;
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

/** What a tool brings by itself in this context; user code, and so never trusted to answer. */
async function defaultNames(
  tool: Tool,
  context: PlannerInput["context"],
): Promise<{ readonly names: ReadonlySet<string>; readonly has: boolean }> {
  try {
    const { defaultArgs } = await tool.body();
    if (defaultArgs === undefined) return { names: new Set(), has: false };
    const brought: unknown = defaultArgs(context);
    const entries = typeof brought === "object" && brought !== null ? Object.entries(brought) : [];
    return { names: new Set(entries.filter(([, value]) => value !== undefined).map(([name]) => name)), has: true };
  } catch {
    // A tool that cannot even be asked is left to the gate, which says why.
    return { names: new Set(requiredNames(tool.parameters)), has: true };
  }
}
