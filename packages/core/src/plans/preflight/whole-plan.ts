import type { AgenticPlan, PlanStep } from "../../schema/plan.ts";
import type { Outline, StepList } from "./outline.ts";

/** Puts a plan together from the steps that were read one by one; undefined when one of them could not be read. */
export function wholePlan({ form, top }: Outline): AgenticPlan | undefined {
  const steps = top === undefined ? undefined : wholeList(top);
  return form === undefined || steps === undefined ? undefined : { ...form, steps };
}

function wholeList({ nodes }: StepList): PlanStep[] | undefined {
  const steps: PlanStep[] = [];
  for (const { form, lists } of nodes) {
    if (form === undefined) return undefined;
    if (form.type === "parallel_branch") {
      const branches = lists.map(wholeList);
      if (!branches.every((list) => list !== undefined)) return undefined;
      steps.push({ ...form, branches: branches.map((list) => ({ steps: list })) });
    } else if (form.type === "loop_over_items") {
      const [loopPlan] = lists.map(wholeList);
      if (loopPlan === undefined) return undefined;
      steps.push({ ...form, loopPlan });
    } else steps.push(form);
  }
  return steps;
}
