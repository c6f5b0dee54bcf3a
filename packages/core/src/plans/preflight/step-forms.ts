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

const anyText = z.string().catch("");
const anyKey = z.string().optional().catch(undefined);
const anyDescription = ToolCallStep.shape.description.catch(undefined);

/**
 * The same forms, taking anything in the fields on which no check of the others rests: a step that is wrong only there
 * is still checked for the rest. Arguments, conditions and ways to other steps stay as strict as they are.
 */
export const LENIENT_STEP_FORMS = {
  tool_call: ToolCallStep.extend({
    id: anyText,
    description: anyDescription,
    toolId: anyText,
    saveAs: anyKey,
    retry: ToolCallStep.shape.retry.catch(undefined),
    timeoutMs: ToolCallStep.shape.timeoutMs.catch(undefined),
    optional: ToolCallStep.shape.optional.catch(undefined),
    onError: ToolCallStep.shape.onError.catch(undefined),
    // Whatever is meant by a wrong list, the step's own tool may not be the only one.
    alternatives: z.array(anyText).optional().catch([""]),
  }),
  conditional_branch: ConditionalBranchStep.extend({ id: anyText, description: anyDescription }),
  parallel_branch: ParallelForm.extend({
    id: anyText,
    description: anyDescription,
    branches: ParallelForm.shape.branches.catch([]),
    concurrency: ParallelForm.shape.concurrency.catch(undefined),
  }),
  loop_over_items: LoopForm.extend({
    id: anyText,
    description: anyDescription,
    itemAlias: anyText,
    loopPlan: Steps.catch([]),
    concurrency: LoopForm.shape.concurrency.catch(undefined),
  }),
  human_in_the_loop: HumanInTheLoopStep.extend({
    id: anyText,
    description: anyDescription,
    message: anyText,
    saveAs: anyKey,
  }),
  final_response: FinalResponseStep.extend({ id: anyText, description: anyDescription }),
} as const satisfies Record<StepKindName, z.ZodType<StepForm>>;

export const STEP_KINDS = Object.keys(STEP_FORMS) as readonly StepKindName[];

export function isStepKind(type: unknown): type is StepKindName {
  return typeof type === "string" && Object.hasOwn(STEP_FORMS, type);
}
