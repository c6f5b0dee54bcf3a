import { z } from "zod";
import { plannerError } from "../errors/planner.ts";
import { pointerTo } from "../schema/values/json.ts";
import { PlannedAction } from "../schema/mcp-loop.ts";
import type { PlannerAnswer } from "./planner.ts";

/** A strategy may plan more than spec 1's five; what is beyond this is cut. */
export const MAX_ACTIONS = 50;

/** Reads what a strategy answered. Throws `planner_failed` when it is no plan. */
export function readPlan(answered: unknown): PlannerAnswer {
  const given = Array.isArray(answered) ? { plan: answered } : answered;
  const parsed = Answer.safeParse(given);
  if (parsed.success) {
    const { plan, ...more } = parsed.data;
    return { plan, ...(Object.fromEntries(Object.entries(more).filter(([, value]) => value !== undefined)) as Said) };
  }
  const issues = parsed.error.issues.map(({ path, code, message }) => ({ path: pointerTo(path), code, message }));
  const [first] = issues;
  const message = `The planner's answer is no plan: ${first?.message ?? "it cannot be read"}${first?.path ? ` at ${first.path}` : ""}.`;
  throw plannerError("planner_failed", message, { details: { issues } });
}

/** Models leave `args` out when there are none. */
export const ActionDraft = PlannedAction.extend({ args: PlannedAction.shape.args.default({}) });

type Said = Omit<PlannerAnswer, "plan">;

const Answer = z.object({
  plan: z.array(ActionDraft),
  question: z.string().optional(),
  nothingFits: z.boolean().optional(),
  isAnswer: z.boolean().optional(),
  by: z.string().optional(),
  note: z.string().optional(),
  leftOut: z.array(z.string()).optional(),
});
