import type { Json } from "../schema/values/json.ts";
import type { PlannedAction } from "../schema/mcp-loop.ts";
import { type AgenticPlan, ContextKey, type OnError, type PlanStep } from "../schema/plan.ts";
import { resultKey } from "../plans/steps/tool-call.ts";

/** Spec 1's last tool: run once, and last. */
export const FINALIZE_TOOL = "finalize_summary";

export type CompiledActions = {
  readonly plan: AgenticPlan;
  /** The action behind each step, in order. */
  readonly steps: readonly { readonly stepId: string; readonly action: PlannedAction }[];
};

/** A planner's list as a plan like any other: it can be inspected, kept and run again. */
export function compileActions(
  actions: readonly PlannedAction[],
  options: { readonly planId: string; readonly onError: OnError; readonly description: string; readonly say: string },
): CompiledActions {
  const steps = actions.map((action, at) => ({ stepId: stepIdOf(action.tool, at), action }));
  const reserved = new Set(["human_input", "finalResponse", ...actions.map(({ tool }) => resultKey(tool))]);
  const places = resultPlaces(actions);
  const calls = steps.map(({ stepId, action }, at): PlanStep => {
    const { tool, args, announcement, reason } = action;
    const place = places[at] ?? "";
    const saveAs = place === resultKey(tool) ? tool : place;
    const description = announcement ?? reason;
    return {
      id: stepId,
      type: "tool_call",
      toolId: tool,
      arguments: { ...args },
      ...(ContextKey.safeParse(saveAs).success && !reserved.has(saveAs) ? { saveAs } : {}),
      ...(description === undefined ? {} : { description: description.slice(0, MAX_DESCRIPTION) }),
      onError: options.onError,
      nextStepId: steps[at + 1]?.stepId ?? ANSWER_STEP,
    };
  });
  const answer: PlanStep = { id: ANSWER_STEP, type: "final_response", message: answerOf(actions, options.say) };
  const plan: AgenticPlan = {
    planId: options.planId,
    description: options.description.slice(0, MAX_DESCRIPTION),
    parameters: { type: "object" },
    startStepId: steps[0]?.stepId ?? ANSWER_STEP,
    steps: [...calls, answer],
  };
  return { plan, steps };
}

/**
 * Where in the context each result is. Of several calls of one tool the last has the tool's own place; all of them where
 * an action takes an argument from there.
 */
export function resultPlaces(actions: readonly PlannedAction[]): readonly string[] {
  return actions.map(({ tool }, at) => {
    const later = actions.slice(at + 1);
    const isLast = !later.some((other) => other.tool === tool) || pointTo(later, tool);
    const before = actions.slice(0, at).filter((earlier) => earlier.tool === tool).length;
    return isLast ? resultKey(tool) : `${tool}.${String(before + 1)}`;
  });
}

function pointTo(actions: readonly PlannedAction[], tool: string): boolean {
  const written = JSON.stringify(actions.map(({ args }) => args));
  return written.includes(`"jsonPath"`) && written.includes(tool);
}

const ANSWER_STEP = "answer";
const MAX_DESCRIPTION = 10_000;
const MAX_STEP_ID = 128;

function stepIdOf(tool: string, at: number): string {
  return `${String(at + 1)}-${tool}`.slice(0, MAX_STEP_ID);
}

/** The summary where there is one, else the last action's result: spec 1's terminal output. */
function answerOf(actions: readonly PlannedAction[], say: string): string | { jsonPath: string; default: Json } {
  const last = actions.at(-1);
  if (last === undefined) return say;
  return { jsonPath: `$.context[${JSON.stringify(resultKey(last.tool))}]`, default: null };
}
