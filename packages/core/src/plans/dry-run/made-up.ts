import type { PlanStep } from "../../schema/plan.ts";
import { writtenKeys } from "../engine/history/run-trail.ts";
import type { IndexedPlan } from "../interpreter.ts";
import { pointersIn } from "../pointer/pointers-in.ts";

/**
 * The steps whose data may come from what a dry run made up: outputs of tools and answers of people. What they fail of says
 * nothing about a real run.
 */
export function stepsOnMadeUp(plan: IndexedPlan): ReadonlySet<string> {
  const steps = [...plan.steps.values()];
  const madeUp = new Set(writtenKeys(plan));
  // A loop inside a loop takes its items from the outer one: what is made up goes as deep as loops do.
  for (let known = -1; known < madeUp.size;) {
    known = madeUp.size;
    for (const step of steps) if (step.type === "loop_over_items" && readsAny(step, madeUp)) madeUp.add(step.itemAlias);
  }
  return new Set(steps.filter((step) => readsAny(step, madeUp)).map(({ id }) => id));
}

function readsAny(step: PlanStep, keys: ReadonlySet<string>): boolean {
  const { value, messages } = dataOf(step);
  return pointersIn(value, { messages }).pointers.some(({ pointer }) =>
    pointer.reads.some(({ root, key }) => {
      if (root === "context") return key === undefined || keys.has(key);
      return root !== "promptInput";
    }),
  );
}

function dataOf(step: PlanStep): { readonly value: unknown; readonly messages: boolean } {
  switch (step.type) {
    case "tool_call":
      return { value: step.arguments, messages: false };
    case "conditional_branch":
      return { value: step.condition, messages: false };
    case "loop_over_items":
      return { value: step.collectionPath, messages: false };
    case "human_in_the_loop":
    case "final_response":
      return { value: step.message, messages: true };
    case "parallel_branch":
      return { value: undefined, messages: false };
  }
}
