import { plannerError } from "../errors/planner.ts";
import type { PlannedAction } from "../schema/mcp-loop.ts";
import type { ChosenPlanner } from "./choose-planner.ts";
import { checkPlan } from "./llm/check-plan.ts";
import { buildPlannerPrompt } from "./llm/planner-prompt.ts";
import type { PlannerInput } from "./planner.ts";

/** Whoever plans for us is a large model behind a client; the prompt has its own limit. */
const ASSUMED_MODEL = "claude";

export type PlanningPrompt = { readonly system: string; readonly user: string };

/** What a model of the caller's has to read to make the plan that is then sent along with the same message. */
export function planningPrompt(input: PlannerInput): PlanningPrompt {
  const { system, user } = buildPlannerPrompt(input, ASSUMED_MODEL);
  return { system, user };
}

/** A plan that came with the request, in place of one made here: taken whole, or refused with everything that is wrong. */
export function callerPlanner(plan: readonly PlannedAction[]): ChosenPlanner {
  return {
    name: "caller",
    plan: async (input) => {
      const { issues } = await checkPlan(plan, input);
      if (issues.length === 0) return { plan };
      const count = issues.length === 1 ? "a problem" : `${String(issues.length)} problems`;
      throw plannerError("plan_refused", `The plan has ${count}, and nothing was run. ${issues.join(" ")}`, {
        details: { issues: issues.map((message) => ({ path: "/plan", code: "plan_refused", message })) },
      });
    },
  };
}
