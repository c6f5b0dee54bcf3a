import * as fc from "fast-check";
import { compile } from "json-p3";
import { describe, expect, it } from "vitest";
import { AgenticPlan, Operator, type PlanStep } from "../../src/schema/plan.ts";
import { observed, pathsOf, planFeatures, reachable, targets, walk } from "./plan-features.ts";
import { arbitraryPlan } from "./random-plan.ts";
import { runReference } from "./reference.ts";
import { seededWorld } from "./world.ts";

const SAMPLES = 2_000;
const MIN_SAMPLES_PER_FEATURE = 10;
const MAX_VALUE_CHARACTERS = 32_768;
/** A list keeps at least one step, whatever the budget says; a cycle has two, and an exit may have a response. */
const OVERSHOOT = 5;
const MAX_VISITS = 2_000;
const samples = fc.sample(arbitraryPlan(), { seed: 20_260, numRuns: SAMPLES });

describe("random plans", { timeout: 30_000 }, () => {
  it("are valid by construction", () => {
    const bad = samples.map(({ plan }) => ({ plan, found: problems(plan) })).filter(({ found }) => found.length > 0);
    expect(bad.slice(0, 1)).toEqual([]);
    expect(JSON.parse(JSON.stringify(samples))).toStrictEqual(samples);
  });

  it("keep to the limits they are given", () => {
    const small = fc.sample(arbitraryPlan({ maxDepth: 1, maxSteps: 4, toolIds: ["x::y"] }), { seed: 3, numRuns: 300 });
    for (const { plan } of small) {
      let steps = 0;
      walk(plan.steps, [], (step, parents) => {
        steps += 1;
        expect(parents.length).toBeLessThanOrEqual(1);
        expect("toolId" in step ? step.toolId : "x::y").toBe("x::y");
      });
      expect(steps).toBeLessThanOrEqual(4 + OVERSHOOT);
    }
  });

  it("end and stay small", () => {
    for (const [seed, { plan, input }] of samples.entries()) {
      const run = runReference(plan, input, seededWorld(seed));
      expect(run.visits).toBeLessThanOrEqual(MAX_VISITS);
      for (const value of [...Object.values(run.context), ...run.history]) {
        expect(JSON.stringify(value).length).toBeLessThan(MAX_VALUE_CHARACTERS);
      }
    }
  });

  it("run the same way twice", () => {
    for (const [seed, { plan, input }] of samples.slice(0, 200).entries()) {
      const run = runReference(plan, input, seededWorld(seed));
      expect(runReference(plan, input, seededWorld(seed))).toEqual(run);
    }
  });

  it("end in a world where everything fails and a person retries whenever it makes sense", () => {
    for (const [seed, { plan, input }] of samples.slice(0, 500).entries()) {
      const calm = seededWorld(seed);
      const error = { code: "tool_failed", message: "down", retryable: true };
      const stubborn = {
        ...calm,
        call: (question: Parameters<typeof calm.call>[0]) =>
          (question.position.at(-1) ?? 0) < 30 ? { error } : calm.call(question),
      };
      expect(runReference(plan, input, stubborn).completed).toBe(true);
    }
  });

  it("reach every step type, nesting and feature", async ({ annotate }) => {
    const counts = new Map<string, number>();
    let visits = 0;
    for (const [seed, { plan, input }] of samples.entries()) {
      const features = planFeatures(plan);
      visits += runReference(plan, input, observed(seededWorld(seed), plan, features)).visits;
      for (const feature of features) counts.set(feature, (counts.get(feature) ?? 0) + 1);
    }
    const table = [...counts]
      .toSorted(([, a], [, b]) => b - a)
      .map(([name, count]) => `${String(count).padStart(5)} ${name}`);
    await annotate([`${String(SAMPLES)} plans, ${String(visits)} visits; plans with`, ...table].join("\n"));
    const rare = FEATURES.filter((name) => (counts.get(name) ?? 0) < MIN_SAMPLES_PER_FEATURE);
    expect(rare).toEqual([]);
  });

  it("shrink to a plan of one plain step", () => {
    const result = fc.check(
      fc.property(arbitraryPlan(), ({ plan }) => !JSON.stringify(plan).includes("tool_call")),
      { seed: 5, numRuns: 100 },
    );
    const plan = result.counterexample?.[0].plan;
    expect(plan?.steps.map(({ type }) => type)).toEqual(["tool_call"]);
  });
});

/** What a preflight would say, as far as it can be said without tools. */
function problems(plan: AgenticPlan): string[] {
  const found: string[] = [];
  const parsed = AgenticPlan.safeParse(plan);
  if (!parsed.success) found.push(parsed.error.message);
  const ids = new Set<string>();
  const lists = new Set<readonly PlanStep[]>();
  walk(plan.steps, [], (step, parents, list) => {
    if (ids.has(step.id)) found.push(`${step.id} twice`);
    ids.add(step.id);
    lists.add(list);
    if (step.type === "final_response" && parents.length > 0) found.push(`${step.id} below top level`);
    for (const target of targets(step)) {
      if (target !== undefined && !list.some(({ id }) => id === target)) found.push(`${step.id} leads out of its list`);
    }
    for (const { jsonPath } of pathsOf(step)) found.push(...pathProblems(jsonPath));
    if (step.type === "parallel_branch") found.push(...conflicts(step));
  });
  for (const list of lists) {
    const start = list === plan.steps ? plan.startStepId : (list[0]?.id ?? "");
    const seen = reachable(list, start);
    for (const { id } of list) if (!seen.has(id)) found.push(`${id} is not reached`);
    for (const { id } of list)
      if (![...reachable(list, id)].some((each) => endsList(list, each))) found.push(`no way out of ${id}`);
  }
  return found;
}

function endsList(list: readonly PlanStep[], id: string): boolean {
  const step = list.find((each) => each.id === id);
  return step !== undefined && (step.type === "final_response" || targets(step).includes(undefined));
}

function pathProblems(jsonPath: string): string[] {
  try {
    compile(jsonPath);
    return /^\$\.(context\[|history\[|promptInput\.)/.test(jsonPath) ? [] : [`${jsonPath} has no root`];
  } catch (error) {
    return [`${jsonPath}: ${String(error)}`];
  }
}

function conflicts(step: PlanStep & { type: "parallel_branch" }): string[] {
  const owner = new Map<string, number>();
  const found: string[] = [];
  for (const [index, { steps }] of step.branches.entries()) {
    walk(steps, [], (inner) => {
      if (!("saveAs" in inner) || inner.saveAs === undefined) return;
      if ((owner.get(inner.saveAs) ?? index) !== index)
        found.push(`${inner.saveAs} saved by two branches of ${step.id}`);
      owner.set(inner.saveAs, index);
    });
  }
  return found;
}

const TYPES = ["tool_call", "conditional_branch", "parallel_branch", "loop_over_items", "human_in_the_loop"];
const FEATURES = [
  ...TYPES,
  ...TYPES.flatMap((type) => [`${type} in branch`, `${type} in loop`]),
  ...[0, 1, 2, 3, 4].map((depth) => `depth ${String(depth)}`),
  ...Operator.options.map((name) => `operator ${name}`),
  ...["retry", "skip"].flatMap((action) => [
    `${action} of failed call in tool_call`,
    `${action} of evaluation failure in tool_call`,
    `${action} of evaluation failure in loop_over_items`,
    `${action} of evaluation failure in conditional_branch`,
    `${action} of evaluation failure in final_response`,
  ]),
  "$.context",
  "$.history by function",
  "$.history by index",
  "$.history by step",
  "$.history slice",
  "$.promptInput",
  "alias used by several loops",
  "alternatives",
  "answer",
  "arms meet",
  "automatic retry succeeds",
  "concurrency",
  "conditional ends its list",
  "cycle",
  "default",
  "descendants",
  "filter",
  "final failure",
  "final_response",
  "first",
  "human input",
  "implicit result",
  "inputSchema",
  "item",
  "item index",
  "key saved in two lists",
  "key saved twice",
  "loop over context",
  "loop over history",
  "loop over promptInput",
  "nested answer",
  "optional",
  "pointer inside an array",
  "pointer inside an object",
  "retry",
  "retryable failure",
  "saveAs",
  "template in final_response",
  "template in human_in_the_loop",
  "text",
  "typed response",
  "wildcard",
];
