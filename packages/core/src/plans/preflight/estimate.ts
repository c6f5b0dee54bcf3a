import { createCostModel } from "../../energy/cost-model.ts";
import type { Json } from "../../schema/values/json.ts";
import { isErgonError } from "../../errors/ergon-error.ts";
import { isList } from "../pointer/json-shape.ts";
import { createMemoryView } from "../pointer/memory-view.ts";
import { resolvePointer } from "../pointer/resolve.ts";
import type { ListGraph } from "./flow/list-graph.ts";
import type { StepList, StepNode } from "./outline.ts";
import type { StepPointer } from "./flow/step-pointers.ts";
import type { ToolIndex } from "./tool-index.ts";

export type PlanEstimate = {
  readonly energyUnits: number;
  readonly toolCalls: number;
  /** True when loops of unknown length, or ways back, make it more. */
  readonly atLeast: boolean;
};

export type EstimateParts = {
  readonly graphs: readonly ListGraph[];
  readonly tools: ToolIndex;
  readonly pointersOf: (node: StepNode) => readonly StepPointer[];
  /** The checked input, when there is one. */
  readonly input: Json | undefined;
};

/** Every step that can be reached counts once, those of a loop once for each item where their number is known. */
export function estimatePlan({ graphs, tools, pointersOf, input }: EstimateParts): PlanEstimate {
  const costs = createCostModel();
  const times = new Map<StepList, number>();
  let energyUnits = 0;
  let toolCalls = 0;
  let atLeast = false;
  for (const { list, isReached, component, isCycle } of graphs) {
    const runs = times.get(list) ?? (list.owner === undefined ? 1 : 0);
    if (runs === 0) continue;
    for (const node of list.nodes) {
      if (isReached[node.at] !== true) continue;
      const again = isCycle[component[node.at] ?? -1] === true;
      const tool = node.form?.type === "tool_call" ? tools.get(node.form.toolId) : undefined;
      if (node.form?.type === "tool_call") {
        toolCalls += runs;
        atLeast ||= again;
      }
      if (tool !== undefined) energyUnits += runs * costs.estimateTool(tool);
      const items = node.form?.type === "loop_over_items" ? itemCount(pointersOf(node)[0], input) : 1;
      atLeast ||= items === undefined;
      for (const inner of node.lists) times.set(inner, runs * (items ?? 1));
    }
  }
  return { energyUnits: rounded(energyUnits), toolCalls, atLeast };
}

/** The number of items, where it depends on the input alone. */
function itemCount(collection: StepPointer | undefined, input: Json | undefined): number | undefined {
  if (collection === undefined || input === undefined || collection.hasDefault) return undefined;
  const { pointer, first } = collection;
  if (pointer.reads.some(({ root }) => root !== "promptInput")) return undefined;
  try {
    const answer = resolvePointer(pointer, createMemoryView({ promptInput: input }), { first });
    return answer.kind === "value" && isList(answer.value) ? answer.value.length : undefined;
  } catch (thrown) {
    if (isErgonError(thrown)) return undefined;
    throw thrown;
  }
}

function rounded(units: number): number {
  return Math.round(units * 1e6) / 1e6;
}
