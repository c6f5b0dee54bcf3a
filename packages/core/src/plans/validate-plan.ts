/**
 * Preflight: all that can be known of a plan before it runs. It calls no tool, reads nothing but the registry's
 * descriptions of tools (their Zod schemas only for the author's messages), and answers at once.
 *
 * F1. Never throws, whatever it is given; time and memory are bounded by the size of the document.
 * F2. All problems in one answer: a step that is wrong hides no problem of another.
 * F3. An error is certain: the plan cannot run, or a step of it cannot run, as it is written. What depends on the
 *     session, a tool's own defaults or the data is a warning or nothing.
 */
import type { Json } from "../schema/values/json.ts";
import type { AgenticPlan, PlanProblem } from "../schema/plan.ts";
import { checkCondition } from "./preflight/checks/check-conditions.ts";
import { checkInput } from "./preflight/checks/check-input.ts";
import { checkKeys } from "./preflight/checks/check-keys.ts";
import { checkPointers } from "./preflight/checks/check-pointers.ts";
import { checkSchemas } from "./preflight/checks/check-schemas.ts";
import { checkSteps } from "./preflight/checks/check-steps.ts";
import { checkToolCall, MAX_ARGUMENT_WORK } from "./preflight/checks/check-tools.ts";
import { contextKeys } from "./preflight/flow/context-keys.ts";
import { estimatePlan, type PlanEstimate } from "./preflight/estimate.ts";
import { graphOf, type ListGraph } from "./preflight/flow/list-graph.ts";
import { outlinePlan, type Outline, type StepNode } from "./preflight/outline.ts";
import type { JsonType } from "./preflight/partial/json-type.ts";
import { plainCopy } from "./preflight/plain-copy.ts";
import { createProblems, problemsOutside, type Problems } from "./preflight/problems.ts";
import { createProducers } from "./preflight/flow/producers.ts";
import { stepPointers, type StepPointer } from "./preflight/flow/step-pointers.ts";
import { createSuggester, type Suggester } from "./preflight/suggester.ts";
import { createToolIndex, type ToolIndex, type ToolLookup } from "./preflight/tool-index.ts";
import { wholePlan } from "./preflight/whole-plan.ts";

export type PlanChecks = {
  readonly registry: ToolLookup;
  /** The role of who runs it; without one, tools that are kept for roles give warnings. */
  readonly role?: string;
  /** Checked when it is given. A run without input has the input {}. */
  readonly input?: unknown;
};

export type PlanReport = {
  /** True when no problem is an error. */
  readonly ok: boolean;
  /** In the order of their paths, which are JSONPaths into the plan; those of the input are under `$.input`. */
  readonly problems: PlanProblem[];
  /** The plan as it was read, when its form is right. */
  readonly plan?: AgenticPlan;
  /** The input with the parameters' defaults, when it was given and fits. */
  readonly input?: Json;
  readonly estimate: PlanEstimate;
};

export function validatePlan(plan: unknown, { registry, role, input }: PlanChecks): PlanReport {
  const problems = createProblems();
  const copy = plainCopy(plan);
  const faults = copy.ok ? [] : copy.faults;
  for (const { path, problem } of faults) {
    problems.error(path, "not_json", `A plan is JSON; this holds ${problem}.`);
  }
  const document = copy.ok ? copy.value : copy.rest;
  if (document === undefined) return reportOf(problems, { estimate: NO_ESTIMATE });
  const others = copy.ok
    ? problems
    : problemsOutside(
        problems,
        faults.map(({ path }) => path),
      );
  const outline = outlinePlan(document, others);
  const isFormRight = !problems.hasErrors();
  if (!outline.isWhole) return reportOf(problems, { estimate: NO_ESTIMATE });
  const answer = checkMeaning(outline, { tools: createToolIndex(registry), role, input }, others);
  const whole = isFormRight ? wholePlan(outline) : undefined;
  return reportOf(problems, whole === undefined ? answer : { ...answer, plan: whole });
}

/** The plan as it is read, whatever tools there are; undefined when its form is wrong. */
export function readForm(plan: unknown): AgenticPlan | undefined {
  const copy = plainCopy(plan);
  if (!copy.ok) return undefined;
  const problems = createProblems();
  const outline = outlinePlan(copy.value, problems);
  return problems.hasErrors() || !outline.isWhole ? undefined : wholePlan(outline);
}

const NO_ESTIMATE: PlanEstimate = { energyUnits: 0, toolCalls: 0, atLeast: true };

type Asked = { readonly tools: ToolIndex; readonly role: string | undefined; readonly input: unknown };

function checkMeaning(
  outline: Outline,
  { tools, role, input }: Asked,
  problems: Problems,
): Pick<PlanReport, "estimate" | "input"> {
  const suggester = createSuggester();
  const graphs = graphsOf(outline, suggester);
  checkSteps({ outline, graphs, suggester }, problems);
  const keys = contextKeys(outline.nodes);
  checkKeys(outline.nodes, keys, problems);
  const parameters = checkSchemas(outline, problems);
  const pointers = new Map<StepNode, readonly StepPointer[]>();
  for (const node of outline.nodes) pointers.set(node, stepPointers(node, problems));
  const pointersOf = (node: StepNode): readonly StepPointer[] => pointers.get(node) ?? [];
  const producers = createProducers({ keys, tools, parameters, pointersOf });
  const all = [...pointers.values()].flat();
  const lost = checkPointers(all, { outline, graphs, keys, tools, producers, parameters, suggester }, problems);
  const byPath = new Map(all.map((pointer) => [pointer.path, pointer]));
  const typesAt = (path: string): ReadonlySet<JsonType> | undefined => {
    const pointer = byPath.get(path);
    return pointer === undefined || lost.has(pointer) ? undefined : producers.typesOf(pointer);
  };
  const work = { left: MAX_ARGUMENT_WORK };
  for (const node of outline.nodes) {
    checkToolCall(node, { tools, role, typesAt, work, suggester }, problems);
    checkCondition(node, typesAt, problems);
    checkCollection(node, typesAt, problems);
  }
  const checked = input === undefined ? undefined : checkInput(input, { parameters }, problems);
  const estimate = estimatePlan({ graphs, tools, pointersOf, input: checked });
  return checked === undefined ? { estimate } : { estimate, input: checked };
}

function graphsOf({ lists, raw, byId }: Outline, suggester: Suggester): readonly ListGraph[] {
  const startId = typeof raw["startStepId"] === "string" ? raw["startStepId"] : undefined;
  return lists.map((list) => graphOf(list, { startId, byId, suggester }));
}

function checkCollection(
  node: StepNode,
  typesAt: (path: string) => ReadonlySet<JsonType> | undefined,
  problems: Problems,
): void {
  if (node.form?.type !== "loop_over_items") return;
  const path = `${node.path}.collectionPath`;
  const { jsonPath, default: fallback } = node.form.collectionPath;
  if (fallback !== undefined || typesAt(path)?.has("array") !== false) return;
  problems.error(path, "type_mismatch", `"${jsonPath}" gives no list; a loop goes over the items of one.`);
}

function reportOf(problems: Problems, answer: Omit<PlanReport, "ok" | "problems">): PlanReport {
  return { ok: !problems.hasErrors(), problems: problems.list(), ...answer };
}
