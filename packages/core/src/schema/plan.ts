import { z } from "zod";
import { Json, JsonObject, JsonSchema } from "./values/json.ts";
import { ToolId } from "./tool.ts";

export const MAX_PLAN_STEPS = 50_000;
export const MAX_PLAN_NESTING = 64;
export const MAX_BRANCHES = 1_000;
export const MAX_LOOP_ITEMS = 1_000_000;
export const MAX_RETRY_ATTEMPTS = 100;
export const MAX_ALTERNATIVES = 20;
export const MAX_CONCURRENCY = 256;
export const MAX_TIMEOUT_MS = 86_400_000;

export const PlanId = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]*$/);
export const StepId = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]*$/);
export type StepId = z.infer<typeof StepId>;

/** A key of the session context that a plan writes; `__proto__` and its kin are not names. */
export const ContextKey = z
  .string()
  .min(1)
  .max(128)
  .regex(/^(?!__)[A-Za-z_][A-Za-z0-9_.:-]*$/);

export const ContextValuePointer = z.strictObject({
  jsonPath: z.string().min(1),
  first: z.boolean().optional(),
  default: Json.optional(),
});
export type ContextValuePointer = z.infer<typeof ContextValuePointer>;

export const Operator = z.enum([
  "equals",
  "not_equals",
  "greater_than",
  "less_than",
  "greater_or_equal",
  "less_or_equal",
  "exists",
  "not_exists",
  "contains",
  "in",
  "matches",
]);
export type Operator = z.infer<typeof Operator>;

export const Condition = z.strictObject({ left: Json, operator: Operator, right: Json.optional() });
export type Condition = z.infer<typeof Condition>;

export const RetryPolicy = z.strictObject({
  maxAttempts: z.int().min(1).max(MAX_RETRY_ATTEMPTS),
  backoffMs: z.int().min(0).max(MAX_TIMEOUT_MS).optional(),
});
export type RetryPolicy = z.infer<typeof RetryPolicy>;

/**
 * What becomes of a run when one of its calls has failed for good. `pause` (the default) waits for a person or the
 * supervisor. `continue` records the failure and goes on with the next step; arguments that do not fit fail the run all
 * the same, for then the plan is wrong and not the world. `fail` ends the run, unless nobody knows what became of the call.
 */
export const OnError = z.enum(["pause", "continue", "fail"]);
export type OnError = z.infer<typeof OnError>;

const step = { id: StepId, description: z.string().max(10_000).optional() };
const Next = z.strictObject({ nextStepId: StepId.optional() });
const Concurrency = z.int().min(1).max(MAX_CONCURRENCY);

export const ToolCallStep = z.strictObject({
  ...step,
  type: z.literal("tool_call"),
  toolId: ToolId,
  arguments: z.record(z.string(), Json).optional(),
  saveAs: ContextKey.optional(),
  retry: RetryPolicy.optional(),
  timeoutMs: z.int().positive().max(MAX_TIMEOUT_MS).optional(),
  optional: z.boolean().optional(),
  onError: OnError.optional(),
  alternatives: z.array(ToolId).max(MAX_ALTERNATIVES).optional(),
  nextStepId: StepId.optional(),
});
export type ToolCallStep = z.infer<typeof ToolCallStep>;

export const ConditionalBranchStep = z.strictObject({
  ...step,
  type: z.literal("conditional_branch"),
  condition: Condition,
  onTrue: Next,
  onFalse: Next,
});
export type ConditionalBranchStep = z.infer<typeof ConditionalBranchStep>;

/** The two steps that hold steps are typed by hand: inference cannot close the circle. */
export type ParallelBranchStep = {
  id: StepId;
  type: "parallel_branch";
  description?: string | undefined;
  branches: { steps: PlanStep[] }[];
  concurrency?: number | undefined;
  nextStepId?: StepId | undefined;
};
export const ParallelBranchStep = z.strictObject({
  ...step,
  type: z.literal("parallel_branch"),
  branches: z
    .array(z.strictObject({ steps: z.lazy(() => PlanSteps) }))
    .min(1)
    .max(MAX_BRANCHES),
  concurrency: Concurrency.optional(),
  nextStepId: StepId.optional(),
});

export type LoopOverItemsStep = {
  id: StepId;
  type: "loop_over_items";
  description?: string | undefined;
  collectionPath: ContextValuePointer;
  itemAlias: string;
  loopPlan: PlanStep[];
  concurrency?: number | undefined;
  nextStepId?: StepId | undefined;
};
export const LoopOverItemsStep = z.strictObject({
  ...step,
  type: z.literal("loop_over_items"),
  collectionPath: ContextValuePointer,
  itemAlias: ContextKey,
  loopPlan: z.lazy(() => PlanSteps),
  concurrency: Concurrency.optional(),
  nextStepId: StepId.optional(),
});

export const HumanInTheLoopStep = z.strictObject({
  ...step,
  type: z.literal("human_in_the_loop"),
  message: z.string().min(1).max(10_000),
  inputSchema: JsonSchema.optional(),
  saveAs: ContextKey.optional(),
  nextStepIdOnInput: StepId.optional(),
});
export type HumanInTheLoopStep = z.infer<typeof HumanInTheLoopStep>;

export const FinalResponseStep = z.strictObject({
  ...step,
  type: z.literal("final_response"),
  message: z.union([z.string(), ContextValuePointer]),
});
export type FinalResponseStep = z.infer<typeof FinalResponseStep>;

export type PlanStep =
  | ToolCallStep
  | ConditionalBranchStep
  | ParallelBranchStep
  | LoopOverItemsStep
  | HumanInTheLoopStep
  | FinalResponseStep;
export const PlanStep: z.ZodType<PlanStep> = z.discriminatedUnion("type", [
  ToolCallStep,
  ConditionalBranchStep,
  ParallelBranchStep,
  LoopOverItemsStep,
  HumanInTheLoopStep,
  FinalResponseStep,
]);
export const PlanSteps: z.ZodType<PlanStep[]> = z.array(PlanStep).min(1);

export const AgenticPlan = z.strictObject({
  /** For editors alone. */
  $schema: z.string().max(2_000).optional(),
  planId: PlanId,
  description: z.string().max(10_000).default(""),
  parameters: JsonSchema.default({ type: "object" }),
  startStepId: StepId,
  steps: PlanSteps,
});
export type AgenticPlan = z.infer<typeof AgenticPlan>;

/** One finding of preflight. */
export const PlanProblem = z.object({
  path: z.string(),
  code: z.string(),
  message: z.string(),
  severity: z.enum(["error", "warning"]),
  /** Where it is, from 1, if the plan came as text. */
  line: z.int().optional(),
  column: z.int().optional(),
});
export type PlanProblem = z.infer<typeof PlanProblem>;

/** What preflight says of a plan as a whole. */
export const PlanVerdict = z.object({ ok: z.boolean(), problems: z.array(PlanProblem), estimate: JsonObject });
export type PlanVerdict = z.infer<typeof PlanVerdict>;
