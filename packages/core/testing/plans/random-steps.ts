import type { PlanStep } from "../../src/schema/plan.ts";
import type { Choice } from "./choice.ts";
import { randomArguments, randomMessage, randomPointer, type Kind, type Readable } from "./random-values.ts";
import type { Shape } from "./world.ts";

/** What is known while a list is written: what can be read there, and which keys it may save to. */
export type Scope = {
  readonly toolIds: readonly string[];
  readonly depth: number;
  readonly loops: number;
  places: readonly Readable[];
  calledStepIds: readonly string[];
  /** Keys that other lists save too, but none that could run beside this one. */
  claimable: readonly string[];
};

export function addPlace(scope: Scope, key: string, kind: Kind, sure = true): void {
  const path = `$.context['${key}']`;
  scope.places = [...scope.places.filter((each) => each.path !== path), { path, kind, sure }];
}

/** What was written in a nested or alternative list can be read after it. */
export function takeIn(scope: Scope, inner: Scope, change: (place: Readable) => Readable): void {
  const fresh = inner.places.filter((place) => !scope.places.includes(place)).map(change);
  scope.places = [...scope.places.filter(({ path }) => !fresh.some((each) => each.path === path)), ...fresh];
  scope.calledStepIds = [...new Set([...scope.calledStepIds, ...inner.calledStepIds])];
  scope.claimable = [...new Set([...scope.claimable, ...inner.claimable])];
}

const SHAPE_KINDS: readonly (readonly [Shape, Kind])[] = [
  ["number", "number"],
  ["string", "string"],
  ["object", "object"],
  ["array", "numbers"],
  ["objects", "objects"],
  ["slot", "number"],
  ["echo", "echo"],
  ["any", "any"],
];

export function toolStep(id: string, choice: Choice, scope: Scope): PlanStep & { type: "tool_call" } {
  const [shape, kind] = choice.of(SHAPE_KINDS);
  const toolId = choice.of(scope.toolIds);
  const step = {
    id,
    type: "tool_call" as const,
    toolId,
    arguments: { shape, ...randomArguments(choice, scope) },
    ...(choice.percent(25) ? { retry: retryPolicy(choice) } : {}),
    ...(choice.percent(10) ? { optional: true } : {}),
    ...(choice.percent(10) ? { alternatives: [choice.of(scope.toolIds)] } : {}),
    ...saving(id, choice, scope, kind),
  };
  scope.calledStepIds = [...scope.calledStepIds, id];
  addPlace(scope, `${toolId}_result`, kind);
  return step;
}

function retryPolicy(choice: Choice): { maxAttempts: number; backoffMs?: number } {
  const maxAttempts = 1 + choice.below(4);
  return choice.percent(50) ? { maxAttempts, backoffMs: choice.below(20) } : { maxAttempts };
}

function saving(id: string, choice: Choice, scope: Scope, kind: Kind): { saveAs?: string } {
  if (choice.percent(25)) return {};
  const saveAs = scope.claimable.length > 0 && choice.percent(20) ? choice.of(scope.claimable) : `key-${id}`;
  if (!scope.claimable.includes(saveAs)) scope.claimable = [...scope.claimable, saveAs];
  addPlace(scope, saveAs, kind);
  return { saveAs };
}

export function humanStep(id: string, choice: Choice, scope: Scope, nextStepId: string | undefined): PlanStep {
  const step = {
    id,
    type: "human_in_the_loop" as const,
    message: randomMessage(choice, scope, false),
    ...(choice.percent(40) ? { inputSchema: { type: "object", required: ["choice"] } } : {}),
    ...saving(id, choice, scope, "answer"),
    ...(nextStepId === undefined ? {} : { nextStepIdOnInput: nextStepId }),
  };
  addPlace(scope, "human_input", "answer");
  return step;
}

export function finalStep(id: string, choice: Choice, scope: Scope): PlanStep {
  const message = choice.percent(70) ? randomPointer(choice, scope, "any") : randomMessage(choice, scope, true);
  return { id, type: "final_response", message };
}
