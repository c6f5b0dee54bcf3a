import type { PlanStep } from "../../schema/plan.ts";
import type { StepKind } from "../transition.ts";
import { conditionalBranch } from "./conditional-branch.ts";
import { finalResponse } from "./final-response.ts";
import { humanInTheLoop } from "./human-in-the-loop.ts";
import { loopOverItems } from "./loop-over-items.ts";
import { parallelBranch } from "./parallel-branch.ts";
import { toolCall } from "./tool-call.ts";

/** The behaviour of a step; made once per step and kept, since plans are immutable. */
export function stepKind(step: PlanStep): StepKind {
  let kind = kinds.get(step);
  if (kind === undefined) {
    kind = makeKind(step);
    kinds.set(step, kind);
  }
  return kind;
}

const kinds = new WeakMap<PlanStep, StepKind>();

function makeKind(step: PlanStep): StepKind {
  switch (step.type) {
    case "tool_call":
      return toolCall(step);
    case "conditional_branch":
      return conditionalBranch(step);
    case "parallel_branch":
      return parallelBranch(step);
    case "loop_over_items":
      return loopOverItems(step);
    case "human_in_the_loop":
      return humanInTheLoop(step);
    case "final_response":
      return finalResponse(step);
  }
}
