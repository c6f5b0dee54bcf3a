import type { ParallelBranchStep } from "../../schema/plan.ts";
import type { StepKind } from "../transition.ts";
import { noList, owedJoin, settleFailure } from "./simple-step.ts";

export const DEFAULT_BRANCH_CONCURRENCY = 8;

export function parallelBranch(step: ParallelBranchStep): StepKind {
  return {
    begin: () => ({ to: "spread", count: step.branches.length }),
    complete: (visit, completion) => {
      const joined = completion.kind === "joined" && visit.frame.state.kind === "spread";
      return joined ? { to: "next", stepId: step.nextStepId } : settleFailure(visit, completion, step.nextStepId);
    },
    owed: owedJoin,
    concurrency: step.concurrency ?? DEFAULT_BRANCH_CONCURRENCY,
    firstStepId: (index) => step.branches[index]?.steps[0]?.id ?? noList(),
  };
}
