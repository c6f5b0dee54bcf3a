import { z } from "zod";
import {
  AgenticPlan,
  ConditionalBranchStep,
  FinalResponseStep,
  HumanInTheLoopStep,
  LoopOverItemsStep,
  MAX_BRANCHES,
  ParallelBranchStep,
  ToolCallStep,
} from "../../schema/plan.ts";

/** A list of steps from outside: its steps are read one by one, so that one that is wrong hides no other. */
const Steps = z.array(z.unknown()).min(1);

const ParallelForm = ParallelBranchStep.extend({
  branches: z
    .array(z.strictObject({ steps: Steps }))
    .min(1)
    .max(MAX_BRANCHES),
});
const LoopForm = LoopOverItemsStep.extend({ loopPlan: Steps });

export const PlanForm = AgenticPlan.extend({ steps: Steps });
export type PlanForm = z.infer<typeof PlanForm>;

/** The form of each kind of step, without the steps that it holds. */
export const STEP_FORMS = {
  tool_call: ToolCallStep,
  conditional_branch: ConditionalBranchStep,
  parallel_branch: ParallelForm,
  loop_over_items: LoopForm,
  human_in_the_loop: HumanInTheLoopStep,
  final_response: FinalResponseStep,
} as const;

export type StepKindName = keyof typeof STEP_FORMS;
export type StepForm = z.infer<(typeof STEP_FORMS)[StepKindName]>;

export const STEP_KINDS = Object.keys(STEP_FORMS) as readonly StepKindName[];

export function isStepKind(type: unknown): type is StepKindName {
  return typeof type === "string" && Object.hasOwn(STEP_FORMS, type);
}
