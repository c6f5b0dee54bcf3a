import { MAX_PLAN_NESTING, MAX_PLAN_STEPS } from "../../schema/plan.ts";
import { childPath } from "../pointer/json-location.ts";
import { isList, isObject } from "../pointer/json-shape.ts";
import type { Problems } from "./problems.ts";
import { readStep } from "./read-step.ts";
import { shapeProblems } from "./checks/shape-problems.ts";
import { PlanForm, type StepForm } from "./step-forms.ts";

/** A step and where it stands. */
export type StepNode = {
  readonly path: string;
  /** As it is written; undefined when it is no text. */
  readonly id: string | undefined;
  readonly raw: unknown;
  /** Undefined when it cannot be read; where its form is wrong, as it was meant. */
  readonly form: StepForm | undefined;
  readonly list: StepList;
  /** Its place in its list. */
  readonly at: number;
  /** The lists that it holds. */
  readonly lists: readonly StepList[];
};

export type StepList = {
  readonly path: string;
  /** Undefined for the plan's own list. */
  readonly owner: StepNode | undefined;
  /** 0 for the plan's own list. */
  readonly depth: number;
  readonly nodes: readonly StepNode[];
};

export type Outline = {
  /** The plan without its steps; undefined when a field of it is wrong. */
  readonly form: PlanForm | undefined;
  readonly raw: Readonly<Record<string, unknown>>;
  readonly top: StepList | undefined;
  /** All steps, each before those that it holds. */
  readonly nodes: readonly StepNode[];
  /** All lists, each before those below it. */
  readonly lists: readonly StepList[];
  /** The first step of each id. */
  readonly byId: ReadonlyMap<string, StepNode>;
  /** All ids, in one array. */
  readonly ids: () => readonly string[];
  /** False when there are more steps or levels than a plan may have, and so not all were read. */
  readonly isWhole: boolean;
};

/** Reads a plan's form, step by step, and reports all that is wrong with it. */
export function outlinePlan(raw: unknown, problems: Problems): Outline {
  if (!isObject(raw)) {
    problems.error("$", "invalid_field", 'A plan is an object with "planId", "startStepId" and "steps".');
    return {
      form: undefined,
      raw: {},
      top: undefined,
      nodes: [],
      lists: [],
      byId: new Map(),
      ids: () => [],
      isWhole: false,
    };
  }
  const parsed = PlanForm.safeParse(raw);
  if (!parsed.success) {
    shapeProblems(problems, { issues: parsed.error.issues, raw, path: "$", known: Object.keys(PlanForm.shape) });
  }
  const reading: Reading = { problems, nodes: [], lists: [], byId: new Map(), isWhole: true };
  const top = isList(raw["steps"])
    ? readList(reading, raw["steps"], { path: "$.steps", owner: undefined, depth: 0 })
    : undefined;
  if (reading.nodes.length > MAX_PLAN_STEPS) {
    reading.isWhole = false;
    problems.error(
      "$.steps",
      "too_many_steps",
      `A plan may have ${String(MAX_PLAN_STEPS)} steps at most, nested ones included.`,
    );
  }
  let ids: readonly string[] | undefined;
  return { ...reading, form: parsed.data, raw, top, ids: () => (ids ??= [...reading.byId.keys()]) };
}

type Reading = {
  readonly problems: Problems;
  readonly nodes: StepNode[];
  readonly lists: StepList[];
  readonly byId: Map<string, StepNode>;
  isWhole: boolean;
};

type Place = { readonly path: string; readonly owner: StepNode | undefined; readonly depth: number };

function readList(reading: Reading, steps: readonly unknown[], place: Place): StepList {
  const nodes: StepNode[] = [];
  const list: StepList = { ...place, nodes };
  reading.lists.push(list);
  if (place.depth > MAX_PLAN_NESTING) {
    const limit = String(MAX_PLAN_NESTING);
    reading.problems.error(place.path, "nested_too_deep", `Steps may be nested ${limit} levels deep at most.`);
    reading.isWhole = false;
    return list;
  }
  for (const [at, raw] of steps.entries()) {
    if (reading.nodes.length > MAX_PLAN_STEPS) break;
    const path = childPath(place.path, at);
    const form = readStep(raw, path, reading.problems);
    const id = isObject(raw) && typeof raw["id"] === "string" ? raw["id"] : undefined;
    const lists: StepList[] = [];
    const node: StepNode = { path, id, raw, form, list, at, lists };
    nodes.push(node);
    reading.nodes.push(node);
    if (id !== undefined && !reading.byId.has(id)) reading.byId.set(id, node);
    for (const inner of innerLists(raw, path)) {
      lists.push(readList(reading, inner.steps, { path: inner.path, owner: node, depth: place.depth + 1 }));
    }
  }
  return list;
}

/** The lists that a step holds, its own form right or wrong. */
function innerLists(raw: unknown, path: string): { readonly steps: readonly unknown[]; readonly path: string }[] {
  if (!isObject(raw)) return [];
  const { branches, loopPlan } = raw;
  const found = isList(loopPlan) ? [{ steps: loopPlan, path: childPath(path, "loopPlan") }] : [];
  if (!isList(branches)) return found;
  for (const [at, branch] of branches.entries()) {
    if (!isObject(branch) || !isList(branch["steps"])) continue;
    found.push({ steps: branch["steps"], path: `${path}.branches[${String(at)}].steps` });
  }
  return found;
}
