import { childPath } from "../../pointer/json-location.ts";
import { edgesOf } from "../flow/edges.ts";
import type { ListGraph } from "../flow/list-graph.ts";
import type { Outline, StepNode } from "../outline.ts";
import type { Problems } from "../problems.ts";
import type { Suggester } from "../suggester.ts";

/** Whether the steps are one plan: ids, where each leads, and whether it is reached and left again. */
export function checkSteps({ outline, graphs, suggester }: StepParts, problems: Problems): void {
  checkIds(outline, problems);
  for (const graph of graphs) {
    checkStart(outline, graph, suggester, problems);
    for (const { node, edge } of graph.dangling) {
      const path = edge.field.split(".").reduce(childPath, node.path);
      problems.error(path, "dangling_step", () => nowhere(outline, graph, suggester, edge.to));
    }
    // Where nothing starts the plan, nothing is reached, and saying so of each step helps nobody.
    if (graph.start !== undefined) checkReached(outline, graph, problems);
    checkCycles(graph, problems);
  }
}

export type StepParts = {
  readonly outline: Outline;
  readonly graphs: readonly ListGraph[];
  readonly suggester: Suggester;
};

function checkIds({ nodes, byId }: Outline, problems: Problems): void {
  for (const node of nodes) {
    const first = node.id === undefined ? undefined : byId.get(node.id);
    if (first !== undefined && first !== node) {
      const message = `Step "${node.id ?? ""}" is at ${first.path} already; an id stands once in the whole plan.`;
      problems.error(childPath(node.path, "id"), "duplicate_step_id", message);
    }
    if (node.form?.type === "final_response" && node.list.owner !== undefined) {
      const message = "A final_response stands at top level only: a branch or a loop turn ends with its last step.";
      problems.error(node.path, "final_response_nested", message);
    }
  }
}

function checkStart(outline: Outline, { list, ids }: ListGraph, suggester: Suggester, problems: Problems): void {
  const start = outline.raw["startStepId"];
  if (list.owner !== undefined || typeof start !== "string" || ids.includes(start)) return;
  problems.error("$.startStepId", "start_step_unknown", () => {
    const elsewhere = outline.byId.get(start);
    const where = elsewhere === undefined ? "" : ` It is at ${elsewhere.path}, and a plan starts at top level.`;
    return `No step of the plan's list is "${start}".${where === "" ? suggester.sentence(start, ids) : where}`;
  });
}

function nowhere(outline: Outline, { ids }: ListGraph, suggester: Suggester, to: string): string {
  const elsewhere = outline.byId.get(to);
  if (elsewhere !== undefined) {
    return `Step "${to}" is at ${elsewhere.path}, in another list; a step leads only to steps of its own list.`;
  }
  return `No step is "${to}".${suggester.sentence(to, ids)}`;
}

/** Of a chain of steps that is not reached only the first is named: it is the one that something forgot. */
function checkReached({ byId }: Outline, graph: ListGraph, problems: Problems): void {
  const { list, next, previous, isReached } = graph;
  // A second step of one id cannot be led to, and is reported for its id.
  const lost = list.nodes.filter(
    ({ at, id }) => isReached[at] === false && (id === undefined || byId.get(id)?.at === at),
  );
  if (lost.length === 0) return;
  const named = new Set<number>();
  const name = (node: StepNode): void => {
    const behind = follow(node.at, next, named, isReached);
    const others =
      behind === 0 ? "" : ` ${String(behind)} more ${behind === 1 ? "step is" : "steps are"} reached only through it.`;
    problems.error(
      node.path,
      "unreachable_step",
      () => `Nothing leads to step "${node.id ?? ""}".${others}${forgotten(graph, node)}`,
    );
  };
  for (const node of lost) if (previous[node.at]?.every((at) => at === node.at) === true) name(node);
  for (const node of lost) if (!named.has(node.at)) name(node);
}

/** How many steps are found from here that were not found before. */
function follow(from: number, next: ListGraph["next"], found: Set<number>, isReached: readonly boolean[]): number {
  const before = found.size;
  const open = [from];
  found.add(from);
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const to of next[at] ?? []) {
      if (found.has(to) || isReached[to] === true) continue;
      found.add(to);
      open.push(to);
    }
  }
  return found.size - before - 1;
}

/** The step that most likely should have led here: the nearest one before it that ends the list. */
function forgotten({ list, isReached, start }: ListGraph, { at }: StepNode): string {
  for (const node of list.nodes.slice(Math.max(0, at - MAX_LOOK_BACK), at).toReversed()) {
    if (isReached[node.at] === false || node.form === undefined || node.form.type === "final_response") continue;
    const end = edgesOf(node).find(({ to }) => to === undefined);
    if (end !== undefined) return ` Did you forget ${end.field} on step "${node.id ?? ""}"?`;
  }
  const first = start === undefined ? undefined : list.nodes[start]?.id;
  return at === 0 && first !== undefined ? ` The plan starts at "${first}".` : "";
}

const MAX_LOOK_BACK = 100;

function checkCycles({ list, next, component, isCycle, isExit }: ListGraph, problems: Problems): void {
  const hasExit = isCycle.map((cycle) => !cycle);
  for (const { at } of list.nodes) {
    const own = component[at] ?? -1;
    if (isExit[at] === true || next[at]?.some((to) => component[to] !== own) === true) hasExit[own] = true;
  }
  const members = new Map<number, StepNode[]>();
  for (const node of list.nodes) {
    const own = component[node.at] ?? -1;
    if (hasExit[own] !== false) continue;
    const known = members.get(own);
    if (known === undefined) members.set(own, [node]);
    else known.push(node);
  }
  for (const [first, ...others] of members.values()) {
    if (first === undefined) continue;
    const ids = [first, ...others].slice(0, MAX_NAMED).map(({ id }) => `"${id ?? ""}"`);
    const more = others.length >= MAX_NAMED ? ` and ${String(others.length + 1 - MAX_NAMED)} more` : "";
    const subject =
      others.length === 0
        ? `Step ${ids[0] ?? ""} leads only to itself`
        : `Steps ${ids.join(", ")}${more} lead only to each other`;
    problems.error(
      first.path,
      "cycle_without_exit",
      `${subject}, and would run for ever. Let a conditional_branch lead out.`,
    );
  }
}

const MAX_NAMED = 5;
