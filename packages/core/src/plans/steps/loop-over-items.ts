import type { LoopOverItemsStep } from "../../schema/plan.ts";
import type { StepKind } from "../transition.ts";
import { evaluatingStep, noList } from "./simple-step.ts";

export const DEFAULT_LOOP_CONCURRENCY = 1;

export function loopOverItems(step: LoopOverItemsStep): StepKind {
  return evaluatingStep({
    skipTo: step.nextStepId,
    evaluated: (_visit, { value }) => (value.kind === "collection" ? { to: "spread", count: value.count } : undefined),
    complete: (visit, completion) =>
      completion.kind === "joined" && visit.frame.state.kind === "spread"
        ? { to: "next", stepId: step.nextStepId }
        : undefined,
    concurrency: step.concurrency ?? DEFAULT_LOOP_CONCURRENCY,
    firstStepId: () => step.loopPlan[0]?.id ?? noList(),
  });
}
