import type { PlanChange } from "../../schema/correction.ts";
import { pointerTo, type Json, type JsonObject } from "../../schema/values/json.ts";
import type { AgenticPlan, PlanStep } from "../../schema/plan.ts";
import { isSchemaObject } from "../../tools/json-schema/walk-schema.ts";
import { jsonEqual } from "../pointer/json-equal.ts";

/** More changes than this are told as one: all arguments are replaced. */
export const MAX_CHANGES = 100;
/** What stood there before is told up to this length of its JSON. */
export const MAX_FROM_LENGTH = 4_096;

type Path = readonly (string | number)[];

/** Where a step stands in its plan, as parts of a JSON Pointer. */
export function stepLocation(plan: AgenticPlan, stepId: string): Path {
  const open: { readonly steps: readonly PlanStep[]; readonly path: Path }[] = [{ steps: plan.steps, path: ["steps"] }];
  for (let list = open.pop(); list !== undefined; list = open.pop()) {
    for (const [at, step] of list.steps.entries()) {
      const path = [...list.path, at];
      if (step.id === stepId) return path;
      if (step.type === "loop_over_items") open.push({ steps: step.loopPlan, path: [...path, "loopPlan"] });
      if (step.type !== "parallel_branch") continue;
      for (const [index, branch] of step.branches.entries())
        open.push({ steps: branch.steps, path: [...path, "branches", index, "steps"] });
    }
  }
  throw new Error(`The plan "${plan.planId}" has no step "${stepId}".`);
}

export function replaced(path: Path, from: Json | undefined, value: Json): PlanChange {
  if (from === undefined) return { op: "add", path: pointerTo(path), value };
  return { op: "replace", path: pointerTo(path), ...shown(from), value };
}

export function removed(path: Path, from: Json): PlanChange {
  return { op: "remove", path: pointerTo(path), ...shown(from) };
}

/** What turns one object of arguments into the other. */
export function argumentChanges(path: Path, before: JsonObject, after: JsonObject): PlanChange[] {
  const changes: PlanChange[] = [];
  compare(path, before, after, changes);
  return changes.length <= MAX_CHANGES ? changes : [replaced(path, before, after)];
}

function compare(path: Path, before: Json, after: Json, changes: PlanChange[]): void {
  if (changes.length > MAX_CHANGES || jsonEqual(before, after)) return;
  if (!isSchemaObject(before) || !isSchemaObject(after)) {
    changes.push(replaced(path, before, after));
    return;
  }
  for (const [key, from] of Object.entries(before)) {
    const value = Object.hasOwn(after, key) ? after[key] : undefined;
    if (value === undefined) changes.push(removed([...path, key], from));
    else compare([...path, key], from, value, changes);
  }
  for (const [key, value] of Object.entries(after)) {
    if (!Object.hasOwn(before, key)) changes.push({ op: "add", path: pointerTo([...path, key]), value });
  }
}

function shown(from: Json): { readonly from?: Json } {
  return JSON.stringify(from).length <= MAX_FROM_LENGTH ? { from } : {};
}
