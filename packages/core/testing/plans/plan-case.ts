import type { Json, JsonObject } from "../../src/schema/values/json.ts";
import type { AgenticPlan, Condition, PlanStep } from "../../src/schema/plan.ts";
import type { ReferenceEntry } from "./reference.ts";
import type { CallError, CallQuestion, Place, World } from "./world.ts";

/** One rule of the contract with a plan that shows it. */
export type PlanCase = {
  readonly name: string;
  /** The contract's words that this case is derived from. */
  readonly rule: string;
  readonly plan: AgenticPlan;
  readonly input: Json;
  readonly initialContext?: JsonObject;
  readonly world: World;
  readonly expected: {
    readonly context: JsonObject;
    /** Oldest first. */
    readonly history: readonly ReferenceEntry[];
    /** The messages of the human steps. */
    readonly asked?: readonly string[];
  };
};

/** A plan that starts at its first step unless told otherwise. */
export function planOf(steps: readonly PlanStep[], startStepId = steps[0]?.id ?? ""): AgenticPlan {
  return { planId: "case", description: "", parameters: true, startStepId, steps: [...steps] };
}

type ToolParts = Omit<PlanStep & { type: "tool_call" }, "id" | "type" | "toolId" | "arguments">;

/** A call of `test::a` that gives back what it gets as `value`. */
export function give(id: string, value: Json, parts: ToolParts & { toolId?: string } = {}): PlanStep {
  return { id, type: "tool_call", toolId: "test::a", arguments: { value }, ...parts };
}

export function human(
  id: string,
  parts: Omit<PlanStep & { type: "human_in_the_loop" }, "id" | "type" | "message"> = {},
): PlanStep {
  return { id, type: "human_in_the_loop", message: "well?", ...parts };
}

type Loop = PlanStep & { type: "loop_over_items" };
export function each(id: string, jsonPath: string, loopPlan: PlanStep[], parts: Partial<Loop> = {}): Loop {
  return { id, type: "loop_over_items", collectionPath: { jsonPath }, itemAlias: "item", loopPlan, ...parts };
}

export function beside(id: string, branches: readonly PlanStep[][], nextStepId?: string): PlanStep {
  const step = { id, type: "parallel_branch" as const, branches: branches.map((steps) => ({ steps })) };
  return nextStepId === undefined ? step : { ...step, nextStepId };
}

export function when(id: string, condition: Condition, onTrue?: string, onFalse?: string): PlanStep {
  const to = (nextStepId: string | undefined): { nextStepId?: string } =>
    nextStepId === undefined ? {} : { nextStepId };
  return { id, type: "conditional_branch", condition, onTrue: to(onTrue), onFalse: to(onFalse) };
}

export function finish(id: string, message: (PlanStep & { type: "final_response" })["message"]): PlanStep {
  return { id, type: "final_response", message };
}

export function at(jsonPath: string): { jsonPath: string } {
  return { jsonPath };
}

export function called(planStepId: string, value: Json, toolId = "test::a"): ReferenceEntry {
  return { toolId, request: { value }, result: { output: value }, planStepId };
}

export function failed(planStepId: string, value: Json, error: CallError = broken): ReferenceEntry {
  return { toolId: "test::a", request: { value }, result: { error }, planStepId };
}

export const broken: CallError = { code: "tool_failed", message: "broken", retryable: true };
export const refused: CallError = { code: "tool_failed", message: "refused", retryable: false };

type Script = {
  /** The error of a call; undefined lets it succeed. */
  readonly fails?: (question: CallQuestion) => CallError | undefined;
  readonly answers?: (place: Place) => Json;
  readonly decides?: (place: Place) => "retry" | "skip";
};

/** Tools give back their `value`, people answer "yes", and skip what failed, unless the script says otherwise. */
export function worldOf(script: Script = {}): World {
  return {
    call(question) {
      const error = script.fails?.(question);
      return error === undefined ? { output: question.args["value"] ?? null } : { error };
    },
    answer: (place) => (script.answers === undefined ? "yes" : script.answers(place)),
    decide: (place) => ({ action: script.decides?.(place) ?? "skip" }),
  };
}
