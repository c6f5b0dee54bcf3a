import type { PlannedAction } from "../../schema/mcp-loop.ts";
import { validatePlan } from "../../plans/validate-plan.ts";
import type { Tool } from "../../tools/tool.ts";
import { arrangeActions } from "../arrange-actions.ts";
import { compileActions, FINALIZE_TOOL } from "../compile-actions.ts";
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
  const sound = runnable.filter((action) => !lacking.has(action));
  issues.push(...argumentIssues(sound, input.tools));
  return { issues, lacking };
}

function argumentIssues(actions: readonly PlannedAction[], tools: readonly Tool[]): readonly string[] {
  if (actions.length === 0) return [];
  const byId = new Map(tools.map((tool) => [tool.id, tool]));
  const { plan } = compileActions(actions, { planId: "check", description: "", onError: "continue", say: "" });
  const registry = { get: (id: string) => byId.get(id), list: () => tools };
  return validatePlan(plan, { registry })
    .problems.filter(({ severity }) => severity === "error")
    .map(({ path, message }) => {
      const at = /^\$\.steps\[(\d+)\](.*)$/.exec(path);
      const tool = actions[Number(at?.[1])]?.tool;
      return tool === undefined ? message : `"${tool}"${at?.[2] ?? ""}: ${message}`;
    });
}
