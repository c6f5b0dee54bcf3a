import type { Json, JsonObject } from "../../src/schema/values/json.ts";
import type { AgenticPlan, PlanStep } from "../../src/schema/plan.ts";
import type { World } from "./world.ts";

/** What a plan makes use of, as short names: to show that random plans reach all of it. */
export function planFeatures(plan: AgenticPlan): Set<string> {
  const features = new Set<string>(["depth 0"]);
  const saved = new Map<string, readonly PlanStep[]>();
  walk(plan.steps, [], (step, parents, list) => {
    features.add(step.type);
    for (const parent of parents) features.add(`${step.type} in ${parent}`);
    features.add(`depth ${String(parents.length)}`);
    for (const option of OPTIONS) if (option in step) features.add(option);
    for (const target of targets(step)) {
      if (target === undefined && step.type === "conditional_branch") features.add("conditional ends its list");
      if (target !== undefined && reaches(list, target, step.id)) features.add("cycle");
    }
    if (targets(list[0] ?? step).length > 0 && incoming(list, step.id) > 1) features.add("arms meet");
    if (step.type === "conditional_branch") features.add(`operator ${step.condition.operator}`);
    if (step.type === "loop_over_items" && step.itemAlias === "item") features.add("alias used by several loops");
    if (step.type === "final_response") features.add(typeof step.message === "string" ? "text" : "typed response");
    for (const feature of valueFeatures(step)) features.add(feature);
    if (!("saveAs" in step) || step.saveAs === undefined) return;
    if (saved.has(step.saveAs))
      features.add(saved.get(step.saveAs) === list ? "key saved twice" : "key saved in two lists");
    saved.set(step.saveAs, list);
  });
  return features;
}

/** The same for what happens while a plan runs: wraps a world and notes what it is asked. */
export function observed(world: World, plan: AgenticPlan, features: Set<string>): World {
  const steps = new Map<string, PlanStep>();
  walk(plan.steps, [], (step) => steps.set(step.id, step));
  const calledAt = new Set<string>();
  return {
    call(question) {
      const result = world.call(question);
      calledAt.add(question.position.join());
      if ("error" in result) features.add(result.error.retryable ? "retryable failure" : "final failure");
      else if (question.attempt > 1) features.add("automatic retry succeeds");
      return result;
    },
    answer(place) {
      features.add(place.position.length > 2 ? "nested answer" : "answer");
      return world.answer(place);
    },
    decide(place) {
      const decision = world.decide(place);
      const cause = calledAt.has(place.position.join()) ? "failed call" : "evaluation failure";
      features.add(`${decision.action} of ${cause} in ${steps.get(place.stepId)?.type ?? "?"}`);
      return decision;
    },
  };
}

const OPTIONS = ["saveAs", "retry", "optional", "alternatives", "inputSchema", "concurrency"] as const;

type See = (step: PlanStep, parents: readonly string[], list: readonly PlanStep[]) => void;

export function walk(list: readonly PlanStep[], parents: readonly string[], see: See): void {
  for (const step of list) {
    see(step, parents, list);
    if (step.type === "loop_over_items") walk(step.loopPlan, [...parents, "loop"], see);
    if (step.type === "parallel_branch")
      for (const { steps } of step.branches) walk(steps, [...parents, "branch"], see);
  }
}

/** Where a step can lead; undefined is the end of the list. */
export function targets(step: PlanStep): (string | undefined)[] {
  switch (step.type) {
    case "conditional_branch":
      return [step.onTrue.nextStepId, step.onFalse.nextStepId];
    case "human_in_the_loop":
      return [step.nextStepIdOnInput];
    case "final_response":
      return [];
    case "tool_call":
    case "parallel_branch":
    case "loop_over_items":
      return [step.nextStepId];
  }
}

export function reachable(list: readonly PlanStep[], from: string): Set<string> {
  const found = new Set<string>();
  const open: (string | undefined)[] = [from];
  while (open.length > 0) {
    const id = open.pop();
    const step = list.find((each) => each.id === id);
    if (step === undefined || found.has(step.id)) continue;
    found.add(step.id);
    open.push(...targets(step));
  }
  return found;
}

function reaches(list: readonly PlanStep[], from: string, to: string): boolean {
  return reachable(list, from).has(to);
}

function incoming(list: readonly PlanStep[], id: string): number {
  return list.filter((step) => targets(step).includes(id)).length;
}

/** All JSONPaths of one step's own values, pointers and templates alike. */
export function pathsOf(step: PlanStep): { jsonPath: string; first?: Json; default?: Json }[] {
  const { branches: _, loopPlan: __, ...own } = { branches: undefined, loopPlan: undefined, ...step };
  return pointersIn(JSON.parse(JSON.stringify(own)) as Json);
}

function pointersIn(value: Json): { jsonPath: string; first?: Json; default?: Json }[] {
  if (typeof value === "string") {
    return [...value.matchAll(/\{\{\s*(\$.*?)\s*\}\}/g)].map(([, jsonPath = ""]) => ({ jsonPath }));
  }
  if (typeof value !== "object" || value === null) return [];
  if (!Array.isArray(value)) {
    const { jsonPath, ...others } = value as JsonObject;
    if (typeof jsonPath === "string") return [{ ...others, jsonPath }];
  }
  return Object.values(value).flatMap((each: Json) => pointersIn(each));
}

function valueFeatures(step: PlanStep): string[] {
  const pointers = pathsOf(step);
  const found = pointers.flatMap(({ jsonPath }) =>
    PATHS.filter(([, form]) => form.test(jsonPath)).map(([name]) => name),
  );
  if (pointers.some((each) => each.first === true)) found.push("first");
  if (pointers.some((each) => "default" in each)) found.push("default");
  if ("message" in step && typeof step.message === "string" && pointers.length > 0)
    found.push(`template in ${step.type}`);
  const values: Json[] = step.type === "tool_call" ? Object.values(step.arguments ?? {}) : [];
  if (values.some((each) => Array.isArray(each) && pointersIn(each).length > 0)) found.push("pointer inside an array");
  if (values.some((each) => JSON.stringify(each).startsWith('{"inner"') && pointersIn(each).length > 0))
    found.push("pointer inside an object");
  if (step.type === "loop_over_items")
    found.push(`loop over ${/^\$\.(\w+)/.exec(step.collectionPath.jsonPath)?.[1] ?? "?"}`);
  return found;
}

const PATHS: readonly (readonly [string, RegExp])[] = [
  ["$.promptInput", /^\$\.promptInput/],
  ["$.context", /^\$\.context/],
  ["$.history by index", /^\$\.history\[-?\d\]/],
  ["$.history by step", /^\$\.history\[\?@\.planStepId==/],
  ["$.history slice", /^\$\.history\[\d?:/],
  ["$.history by function", /^\$\.history\[\?search/],
  ["item", /^\$\.context\['item/],
  ["item index", /_index'\]/],
  ["implicit result", /^\$\.context\['test::\w_result/],
  ["human input", /^\$\.context\['human_input/],
  ["filter", /\?@/],
  ["wildcard", /\*/],
  ["descendants", /\.\./],
];
