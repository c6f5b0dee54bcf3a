import type { PlanStep } from "../schema/plan.ts";
import type { IndexedPlan } from "./interpreter.ts";
import { decodePosition } from "./position.ts";

/** Names visits as people do: `each[3]/greet`, by the step that holds another and the branch or turn. */
export function visitNames({ plan }: Pick<IndexedPlan, "plan">): (stepId: string, position: string) => string {
  const parents = new Map<string, string>();
  const open: { readonly steps: readonly PlanStep[]; readonly parent: string | undefined }[] = [
    { steps: plan.steps, parent: undefined },
  ];
  for (let list = open.pop(); list !== undefined; list = open.pop()) {
    for (const step of list.steps) {
      if (list.parent !== undefined) parents.set(step.id, list.parent);
      if (step.type === "loop_over_items") open.push({ steps: step.loopPlan, parent: step.id });
      if (step.type === "parallel_branch")
        for (const branch of step.branches) open.push({ steps: branch.steps, parent: step.id });
    }
  }
  return (stepId, position) => {
    // [run, index, child, index, …]: every second number from the third on is a branch or a turn.
    const parts = decodePosition(position);
    let name = stepId;
    let holder = parents.get(stepId);
    for (let at = parts.length - 2; at >= 2 && holder !== undefined; at -= 2) {
      name = `${holder}[${String(parts[at])}]/${name}`;
      holder = parents.get(holder);
    }
    return name;
  };
}
