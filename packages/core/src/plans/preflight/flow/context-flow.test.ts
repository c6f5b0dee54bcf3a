import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryPlan } from "../../../../testing/plans/random-plan.ts";
import type { AgenticPlan } from "../../../schema/plan.ts";
import { aliasKeys, contextKeys, type ContextKeys } from "./context-keys.ts";
import { unansweredReads, type KeyRead } from "./context-flow.ts";
import { edgesOf } from "./edges.ts";
import { graphOf, type ListGraph } from "./list-graph.ts";
import { outlinePlan, type Outline, type StepList, type StepNode } from "../outline.ts";
import { createProblems } from "../problems.ts";
import { createSuggester } from "../suggester.ts";

type Read = { readonly outline: Outline; readonly graphs: readonly ListGraph[]; readonly keys: ContextKeys };

function readPlan(plan: AgenticPlan): Read {
  const outline = outlinePlan(plan, createProblems());
  const suggester = createSuggester();
  const graphs = outline.lists.map((list) =>
    graphOf(list, { startId: plan.startStepId, byId: outline.byId, suggester }),
  );
  return { outline, graphs, keys: contextKeys(outline.nodes) };
}

describe("reads of the context", () => {
  it("are answered exactly when some step that writes the key can run before, as the slow definition says", () => {
    let answered = 0;
    let unanswered = 0;
    fc.assert(
      fc.property(arbitraryPlan({ maxDepth: 4, maxSteps: 30 }), ({ plan }) => {
        const { outline, graphs, keys } = readPlan(plan);
        const reads = outline.nodes.flatMap((node) => keys.all().map((key): KeyRead => ({ key, node })));
        const found = new Set(unansweredReads(reads, graphs, keys));
        const wrong = reads.filter((read) => found.has(read) === canBeWritten(read.key, read.node));
        expect(wrong.map(({ key, node }) => `${key} at ${node.path}`)).toEqual([]);
        unanswered += found.size;
        answered += reads.length - found.size;
      }),
      { numRuns: 100 },
    );
    expect(answered).toBeGreaterThan(1_000);
    expect(unanswered).toBeGreaterThan(1_000);
  });
});

/** Some step of the list, or of a list around it, leads here and writes the key, itself or through what it holds. */
function canBeWritten(key: string, node: StepNode): boolean {
  const before = node.list.nodes.some((other) => writes(other, key) && leadsTo(other, node));
  const { owner } = node.list;
  if (before) return true;
  return owner !== undefined && (aliasKeys(owner).includes(key) || canBeWritten(key, owner));
}

function writes(node: StepNode, key: string): boolean {
  const { form } = node;
  if ((form?.type === "tool_call" || form?.type === "human_in_the_loop") && form.saveAs === key) return true;
  if (form?.type === "human_in_the_loop" && key === "human_input") return true;
  if (form?.type === "tool_call" && [form.toolId, ...(form.alternatives ?? [])].some((id) => key === `${id}_result`))
    return true;
  return node.lists.some((list: StepList) => list.nodes.some((inner) => writes(inner, key)));
}

function leadsTo(from: StepNode, to: StepNode): boolean {
  const seen = new Set<StepNode>();
  const open = [from];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const edge of edgesOf(node)) {
      const next = from.list.nodes.find(({ id }) => id === edge.to);
      if (next === to) return true;
      if (next === undefined || seen.has(next)) continue;
      seen.add(next);
      open.push(next);
    }
  }
  return false;
}
