import type { ConditionalBranchStep } from "../../schema/plan.ts";
import type { StepKind } from "../transition.ts";
import { evaluatingStep } from "./simple-step.ts";

/** Skipping a condition that cannot be worked out takes the `onFalse` way. */
export function conditionalBranch(step: ConditionalBranchStep): StepKind {
  return evaluatingStep({
    skipTo: step.onFalse.nextStepId,
    evaluated: (_visit, { value }) =>
      value.kind === "condition"
        ? { to: "next", stepId: value.holds ? step.onTrue.nextStepId : step.onFalse.nextStepId }
        : undefined,
  });
}
