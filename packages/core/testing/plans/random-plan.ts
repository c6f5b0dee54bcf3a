import * as fc from "fast-check";
import type { Json } from "../../src/schema/values/json.ts";
import type { AgenticPlan, PlanStep } from "../../src/schema/plan.ts";
import { createChoice, type Choice } from "./choice.ts";
import { arbitrarySkeleton, type Bone } from "./random-skeleton.ts";
import { addPlace, finalStep, humanStep, takeIn, toolStep, type Scope } from "./random-steps.ts";
import { randomCollection, randomCondition, sureValue, type Readable } from "./random-values.ts";

export type RandomPlanOptions = {
  readonly maxDepth?: number;
  readonly maxSteps?: number;
  readonly toolIds?: readonly string[];
};
export type RandomPlan = { readonly plan: AgenticPlan; readonly input: Json };

export const TEST_TOOL_IDS = ["test::a", "test::b", "test::c", "test::d"] as const;

/**
 * Plans that are valid by construction and surely end, whatever the world answers: the only way back is a cycle that
 * leaves when enough tool calls are in history, or when a counter that grows with every slot has passed its bound.
 */
export function arbitraryPlan(options: RandomPlanOptions = {}): fc.Arbitrary<RandomPlan> {
  const { maxDepth = 4, maxSteps = 14, toolIds = TEST_TOOL_IDS } = options;
  const parts = fc.record({ bones: arbitrarySkeleton(maxDepth, maxSteps), seed: fc.nat(), input: arbitraryInput });
  // A bias to small lengths and seeds would make most plans one plain step.
  return fc.noBias(parts).map(({ bones, seed, input }) => ({ plan: buildPlan(bones, seed, toolIds), input }));
}

const text = fc.constantFrom("a", "b", "abc", "yes", "");
const plain = { noNullPrototype: true };
const record = fc.record({ n: fc.nat(9), s: text, list: fc.array(fc.nat(9), { maxLength: 3, size: "max" }) }, plain);
const arbitraryInput = fc.record(
  {
    n: fc.nat(9),
    s: text,
    object: record,
    items: fc.array(fc.nat(9), { maxLength: 5, size: "max" }),
    objects: fc.array(record, { maxLength: 4, size: "max" }),
    nested: fc.array(fc.array(fc.nat(9), { maxLength: 3, size: "max" }), { maxLength: 3, size: "max" }),
    one: fc.tuple(fc.nat(9)),
    none: fc.constant([]),
  },
  plain,
);
const INPUT_PLACES: readonly Readable[] = [
  { path: "$.promptInput.n", kind: "number", sure: true },
  { path: "$.promptInput.s", kind: "string", sure: true },
  { path: "$.promptInput.object", kind: "object", sure: true },
  { path: "$.promptInput.items", kind: "numbers", sure: true },
  { path: "$.promptInput.objects", kind: "objects", sure: true },
  { path: "$.promptInput.nested", kind: "lists", sure: true },
  { path: "$.promptInput.one", kind: "numbers", sure: true },
  { path: "$.promptInput.none", kind: "list", sure: true },
  { path: "$.promptInput.object..n", kind: "list", sure: true },
];

function buildPlan(bones: readonly Bone[], seed: number, toolIds: readonly string[]): AgenticPlan {
  const choice = createChoice(seed);
  const scope: Scope = { toolIds, depth: 0, loops: 0, places: INPUT_PLACES, calledStepIds: [], claimable: [] };
  const withEnd = choice.percent(75);
  const steps = buildList(bones, scope, withEnd ? "end" : undefined);
  if (withEnd) steps.push(finalStep("end", choice, scope));
  return {
    planId: "random",
    description: "",
    parameters: {
      type: "object",
      required: ["items"],
      properties: { items: { type: "array" } },
    },
    startStepId: bones[0]?.id ?? "end",
    steps: choice.percent(30) ? shuffled(choice, steps) : steps,
  };
}

function buildList(bones: readonly Bone[], scope: Scope, nextStepId: string | undefined): PlanStep[] {
  return bones.flatMap((bone, at) => buildBone(bone, scope, bones[at + 1]?.id ?? nextStepId));
}

/** A nested list starts at its first step; the order of the others says nothing. */
function buildNestedList(bones: readonly Bone[], scope: Scope, choice: Choice): PlanStep[] {
  const [first, ...others] = buildList(bones, scope, undefined);
  if (first === undefined) throw new RangeError("a nested list needs a step");
  return [first, ...(choice.percent(30) ? shuffled(choice, others) : others)];
}

function buildBone(bone: Bone, scope: Scope, nextStepId: string | undefined): PlanStep[] {
  const choice = createChoice(bone.seed);
  const { id } = bone;
  const next = nextStepId === undefined ? {} : { nextStepId };
  switch (bone.kind) {
    case "tool":
      return [{ ...toolStep(id, choice, scope), ...next }];
    case "human":
      return [humanStep(id, choice, scope, nextStepId)];
    case "exit":
      return exitSteps(id, choice, scope, nextStepId);
    case "fork":
      return forkSteps(bone, choice, scope, nextStepId);
    case "cycle":
      return cycleSteps(bone, choice, scope, nextStepId);
    case "parallel":
      return [{ ...parallelStep(bone, choice, scope), ...next }];
    case "loop":
      return [{ ...loopStep(bone, choice, scope), ...next }];
  }
}

/** Ends its list on one side: at top level sometimes through a response of its own. */
function exitSteps(id: string, choice: Choice, scope: Scope, nextStepId: string | undefined): PlanStep[] {
  const condition = randomCondition(choice, scope);
  const responds = scope.depth === 0 && choice.percent(40);
  const out = responds ? { nextStepId: `${id}.end` } : {};
  const on = nextStepId === undefined ? {} : { nextStepId };
  const [onTrue, onFalse] = choice.percent(50) ? [on, out] : [out, on];
  const exit: PlanStep = { id, type: "conditional_branch", condition, onTrue, onFalse };
  return responds ? [exit, finalStep(`${id}.end`, choice, scope)] : [exit];
}

function forkSteps(
  bone: Bone & { kind: "fork" },
  choice: Choice,
  scope: Scope,
  nextStepId: string | undefined,
): PlanStep[] {
  const condition = randomCondition(choice, scope);
  const arms = [bone.onTrue, bone.onFalse].map((bones) => {
    const arm = { ...scope };
    return { arm, steps: buildList(bones, arm, nextStepId), first: bones[0]?.id ?? nextStepId };
  });
  const [onTrue, onFalse] = arms.map(({ first }) => (first === undefined ? {} : { nextStepId: first }));
  for (const { arm } of arms) takeIn(scope, arm, (place) => ({ ...place, sure: false }));
  return [
    { id: bone.id, type: "conditional_branch", condition, onTrue: onTrue ?? {}, onFalse: onFalse ?? {} },
    ...arms.flatMap(({ steps }) => steps),
  ];
}

function cycleSteps(
  bone: Bone & { kind: "cycle" },
  choice: Choice,
  scope: Scope,
  nextStepId: string | undefined,
): PlanStep[] {
  const backId = `${bone.id}.back`;
  const counter = `count-${bone.id}`;
  const counts = choice.percent(50);
  const toolId = choice.of(scope.toolIds);
  const first: PlanStep = {
    id: bone.id,
    type: "tool_call",
    toolId,
    // A pointer that fails here could be skipped for ever, with nothing called and nothing counted.
    arguments: { shape: "slot", seen: sureValue(choice, scope) },
    ...(counts ? { saveAs: counter } : {}),
    nextStepId: bone.body[0]?.id ?? backId,
  };
  const alreadyCalled = scope.calledStepIds.length;
  scope.calledStepIds = [...scope.calledStepIds, bone.id];
  addPlace(scope, `${toolId}_result`, "number");
  if (counts) addPlace(scope, counter, "number");
  const body = buildList(bone.body, scope, backId);
  const out = nextStepId === undefined ? {} : { nextStepId };
  const again = { nextStepId: bone.id };
  const reached = Math.min(alreadyCalled, 4) + 1 + choice.below(3);
  const back: PlanStep = counts
    ? {
        id: backId,
        type: "conditional_branch",
        condition: { left: { jsonPath: `$.context['${counter}']` }, operator: "greater_than", right: choice.below(10) },
        onTrue: out,
        onFalse: again,
      }
    : {
        id: backId,
        type: "conditional_branch",
        condition: { left: { jsonPath: `$.history[${String(reached)}]` }, operator: "not_exists" },
        onTrue: again,
        onFalse: out,
      };
  return [first, ...body, back];
}

function parallelStep(bone: Bone & { kind: "parallel" }, choice: Choice, scope: Scope): PlanStep {
  const count = bone.branches.length;
  const branches = bone.branches.map((bones, index) => {
    // Two branches must never save one key, so each gets its own share.
    const claimable = scope.claimable.filter((_, at) => at % count === index);
    const inner: Scope = { ...scope, depth: scope.depth + 1, claimable };
    return { inner, steps: buildNestedList(bones, inner, choice) };
  });
  for (const { inner } of branches) takeIn(scope, inner, (place) => place);
  const concurrency = choice.percent(50) ? { concurrency: choice.of([1, 2, 3, 8]) } : {};
  return { id: bone.id, type: "parallel_branch", branches: branches.map(({ steps }) => ({ steps })), ...concurrency };
}

function loopStep(bone: Bone & { kind: "loop" }, choice: Choice, scope: Scope): PlanStep {
  const [collectionPath, itemKind] = randomCollection(choice, scope, scope.loops === 0 ? 5 : 3);
  // Several loops may have one alias, but not one inside the other: preflight refuses that.
  const isTaken = scope.places.some(({ path }) => path === "$.context['item']");
  const itemAlias = choice.percent(20) && !isTaken ? "item" : `item-${bone.id}`;
  const inner: Scope = { ...scope, depth: scope.depth + 1, loops: scope.loops + 1 };
  addPlace(inner, itemAlias, itemKind);
  addPlace(inner, `${itemAlias}_index`, "number");
  const aliases = inner.places.slice(-2);
  const loopPlan = buildNestedList(bone.body, inner, choice);
  const afterwards = ({ path, kind }: Readable): Readable => {
    const saved = !/_result'|human_input/.test(path);
    return { path, kind: saved ? (kind === "numbers" ? "lists" : "list") : kind, sure: saved };
  };
  takeIn(scope, { ...inner, places: inner.places.filter((place) => !aliases.includes(place)) }, afterwards);
  const concurrency = choice.percent(50) ? { concurrency: choice.of([1, 2, 4, 8]) } : {};
  return { id: bone.id, type: "loop_over_items", collectionPath, itemAlias, loopPlan, ...concurrency };
}

function shuffled<Item>(choice: Choice, items: readonly Item[]): Item[] {
  const left = [...items];
  return items.map(() => left.splice(choice.below(left.length), 1)).flat();
}
