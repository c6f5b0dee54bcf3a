import type { AgenticPlan, PlanStep } from "../schema/plan.ts";
import { indexPlan, stepOf, type IndexedPlan } from "./interpreter.ts";
import { compileCondition, type CompiledCondition } from "./pointer/condition.ts";
import { compileMessage, compileTemplate, type CompiledTemplate } from "./pointer/template.ts";

/** What a step needs from the data, compiled. */
export type StepData =
  | { readonly kind: "arguments"; readonly template: CompiledTemplate }
  | { readonly kind: "condition"; readonly condition: CompiledCondition }
  | { readonly kind: "collection"; readonly template: CompiledTemplate }
  | { readonly kind: "message"; readonly template: CompiledTemplate }
  | { readonly kind: "response"; readonly template: CompiledTemplate }
  | { readonly kind: "none" };

export type CompiledPlan = IndexedPlan & {
  readonly dataOf: (stepId: string) => StepData;
  /** The keys that `saveAs` can write anywhere inside the lists of this step. */
  readonly savedKeys: (stepId: string) => readonly string[];
};

/** Each step is compiled when it is first reached: a long plan starts at once. */
export function compilePlan(plan: AgenticPlan): CompiledPlan {
  const indexed = indexPlan(plan);
  return {
    ...indexed,
    dataOf: remember((stepId) => compileStep(stepOf(indexed, stepId))),
    savedKeys: remember((stepId) => [...savedBelow(stepOf(indexed, stepId))]),
  };
}

function remember<T>(make: (stepId: string) => T): (stepId: string) => T {
  const made = new Map<string, T>();
  return (stepId) => {
    let value = made.get(stepId);
    if (value === undefined) {
      value = make(stepId);
      made.set(stepId, value);
    }
    return value;
  };
}

function compileStep(step: PlanStep): StepData {
  switch (step.type) {
    case "tool_call":
      return { kind: "arguments", template: compileTemplate(step.arguments ?? {}) };
    case "conditional_branch":
      return { kind: "condition", condition: compileCondition(step.condition) };
    case "loop_over_items":
      return { kind: "collection", template: compileTemplate(step.collectionPath) };
    case "human_in_the_loop":
      return { kind: "message", template: compileMessage(step.message) };
    case "final_response":
      return { kind: "response", template: compileMessage(step.message) };
    case "parallel_branch":
      return { kind: "none" };
  }
}

function savedBelow(step: PlanStep): Set<string> {
  const keys = new Set<string>();
  const lists: (readonly PlanStep[])[] = listsOf(step);
  for (let list = lists.pop(); list !== undefined; list = lists.pop()) {
    for (const inner of list) {
      if ((inner.type === "tool_call" || inner.type === "human_in_the_loop") && inner.saveAs !== undefined)
        keys.add(inner.saveAs);
      lists.push(...listsOf(inner));
    }
  }
  return keys;
}

/** The lists of steps that a step holds. */
function listsOf(step: PlanStep): PlanStep[][] {
  if (step.type === "loop_over_items") return [step.loopPlan];
  if (step.type === "parallel_branch") return step.branches.map((branch) => branch.steps);
  return [];
}
