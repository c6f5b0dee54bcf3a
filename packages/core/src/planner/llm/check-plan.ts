import type { Json, JsonObject } from "../../schema/values/json.ts";
import type { PlannedAction } from "../../schema/mcp-loop.ts";
import { resultKey } from "../../plans/steps/tool-call.ts";
import { validatePlan } from "../../plans/validate-plan.ts";
import type { Tool } from "../../tools/tool.ts";
import { arrangeActions } from "../arrange-actions.ts";
import { compileActions, FINALIZE_TOOL, resultPlaces } from "../compile-actions.ts";
import { MAX_PLANNED_TOOLS, type PlannerInput } from "../planner.ts";
import { missingArguments } from "../missing-arguments.ts";

export type PlanIssues = {
  /** In words that a model can act on; empty when the plan can run. */
  readonly issues: readonly string[];
  /** Those whose required arguments nobody knows. */
  readonly lacking: ReadonlyMap<PlannedAction, readonly string[]>;
};

/** Everything that is wrong with a model's plan, found before anything runs. */
export async function checkPlan(plan: readonly PlannedAction[], input: PlannerInput): Promise<PlanIssues> {
  const { runnable, unknown } = arrangeActions(plan, input.tools);
  const issues = unknown.map(({ reason }) => `${reason} Use only tools of the list.`);
  const working = plan.filter(({ tool }) => tool !== FINALIZE_TOOL);
  if (working.length > MAX_PLANNED_TOOLS) {
    issues.push(`The plan has ${String(working.length)} tools; ${String(MAX_PLANNED_TOOLS)} is the limit.`);
  }
  const lacking = await missingArguments(runnable, input);
  for (const [{ tool }, names] of lacking) {
    issues.push(`"${tool}" needs ${names.join(", ")}: give them if they are known, else leave the tool out.`);
  }
  issues.push(...argumentIssues(runnable, input.tools, lacking), ...pointerIssues(runnable, input));
  return { issues, lacking };
}

function argumentIssues(
  actions: readonly PlannedAction[],
  tools: readonly Tool[],
  lacking: PlanIssues["lacking"],
): readonly string[] {
  if (actions.length === 0) return [];
  const byId = new Map(tools.map((tool) => [tool.id, tool]));
  const { plan } = compileActions(actions, { planId: "check", description: "", onError: "continue", say: "" });
  const registry = { get: (id: string) => byId.get(id), list: () => tools };
  return validatePlan(plan, { registry }).problems.flatMap(({ severity, code, path, message }) => {
    const at = /^\$\.steps\[(\d+)\](.*)$/.exec(path);
    const action = actions[Number(at?.[1])];
    // What a tool lacks is told once.
    const isTold = action !== undefined && code === "missing_argument" && lacking.has(action);
    if (severity !== "error" || isTold) return [];
    return [action === undefined ? message : `"${action.tool}"${at?.[2] ?? ""}: ${message}`];
  });
}

/** Arguments that point into the context at what neither the session nor an earlier tool of the plan puts there. */
function pointerIssues(actions: readonly PlannedAction[], { context }: PlannerInput): readonly string[] {
  const places = resultPlaces(actions);
  const known = new Set(Object.keys(context));
  return actions.flatMap(({ tool, args }, at) => {
    const missing = [...new Set(contextKeysIn(args))].filter((key) => !known.has(key));
    for (const key of [tool, resultKey(tool), places[at] ?? ""]) known.add(key);
    return missing.map(
      (key) =>
        `"${tool}" takes a value from "${key}", which is neither in the context nor an earlier tool of the plan.`,
    );
  });
}

function contextKeysIn(value: Json): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(contextKeysIn);
  const { jsonPath, default: standard } = value as JsonObject;
  if (typeof jsonPath !== "string") return Object.values(value as JsonObject).flatMap(contextKeysIn);
  const [, quoted, bare] = CONTEXT_KEY.exec(jsonPath) ?? [];
  const key = quoted ?? bare;
  return key === undefined || standard !== undefined ? [] : [key];
}

const CONTEXT_KEY = /^\$\.context(?:\[["']([^"']+)["']\]|\.([\w-]+))/;
