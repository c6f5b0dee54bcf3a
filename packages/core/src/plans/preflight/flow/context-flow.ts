/**
 * Finds the reads of the context that no step can have written before.
 *
 * Lists are taken from the innermost outwards. What a list cannot answer itself becomes a question at the step that
 * holds it, one level up; what is left at the top is answered by nothing in the plan. Within a list one depth-first walk
 * answers most questions (a step on the way here wrote it), the numbers of components refuse most others, and the rest
 * is a search backwards with a bound: beyond it the answer is "perhaps".
 */
import { aliasKeys, type ContextKeys } from "./context-keys.ts";
import type { ListGraph } from "./list-graph.ts";
import type { StepNode } from "../outline.ts";

/** Steps looked at by searches backwards, in one plan. */
const MAX_FLOW_WORK = 1_000_000;

export type KeyRead = { readonly key: string; readonly node: StepNode };

/** The reads whose key no step can have written when they happen. Reads of steps that are never reached are left out. */
export function unansweredReads<Read extends KeyRead>(
  reads: readonly Read[],
  graphs: readonly ListGraph[],
  keys: ContextKeys,
  maxWork = MAX_FLOW_WORK,
): readonly Read[] {
  const questions = new Map<StepNode, Map<string, Read[]>>();
  for (const read of reads) ask(questions, read.node, read.key, [read]);
  const work = { left: maxWork };
  const unanswered: Read[] = [];
  for (const graph of graphs.toReversed()) {
    const { owner } = graph.list;
    const given = aliasKeys(owner);
    for (const [key, open] of openQuestions(graph, keys, questions, work)) {
      if (given.includes(key)) continue;
      if (owner === undefined) unanswered.push(...open);
      else ask(questions, owner, key, open);
    }
  }
  return unanswered;
}

type Questions<Read> = Map<StepNode, Map<string, Read[]>>;

function ask<Read>(questions: Questions<Read>, node: StepNode, key: string, reads: readonly Read[]): void {
  const known = questions.get(node) ?? new Map<string, Read[]>();
  questions.set(node, known);
  const same = known.get(key);
  if (same === undefined) known.set(key, [...reads]);
  else for (const read of reads) same.push(read);
}

/** The questions at reached steps of this list that the list itself cannot answer. */
function openQuestions<Read>(
  graph: ListGraph,
  keys: ContextKeys,
  questions: Questions<Read>,
  work: { left: number },
): [string, Read[]][] {
  const { list, component } = graph;
  const latest = latestWriters(graph, keys);
  const open: [string, Read[]][] = [];
  walk(graph, keys, (at, isWritten) => {
    const node = list.nodes[at];
    for (const [key, reads] of (node && questions.get(node)) ?? []) {
      if (isWritten(key)) continue;
      const writer = latest.get(key) ?? -1;
      const own = component[at] ?? -1;
      const answered =
        writer > own ? searchBack(graph, keys, at, key, work) : writer === own && graph.isCycle[own] === true;
      if (!answered) open.push([key, reads]);
    }
  });
  return open;
}

/** The highest reached component that writes each key: a step in a higher one than its cannot be led to. */
function latestWriters({ list, component, isReached }: ListGraph, keys: ContextKeys): ReadonlyMap<string, number> {
  const latest = new Map<string, number>();
  for (const node of list.nodes) {
    const own = component[node.at] ?? -1;
    if (isReached[node.at] !== true) continue;
    for (const key of keys.writtenBelow(node)) if ((latest.get(key) ?? -1) < own) latest.set(key, own);
  }
  return latest;
}

/** Visits every reached step once, saying which keys the steps on the way there wrote. */
function walk(
  { list, next, start }: ListGraph,
  keys: ContextKeys,
  visit: (at: number, isWritten: (key: string) => boolean) => void,
): void {
  const written = new Map<string, number>();
  const change = (at: number, by: number): void => {
    const node = list.nodes[at];
    if (node === undefined) return;
    for (const key of keys.writtenBelow(node)) written.set(key, (written.get(key) ?? 0) + by);
  };
  const isWritten = (key: string): boolean => (written.get(key) ?? 0) > 0;
  const seen = new Set<number>();
  const way: { readonly at: number; edge: number }[] = [];
  const enter = (at: number): void => {
    seen.add(at);
    visit(at, isWritten);
    change(at, 1);
    way.push({ at, edge: 0 });
  };
  if (start !== undefined) enter(start);
  for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
    const target = next[top.at]?.[top.edge];
    top.edge += 1;
    if (target === undefined) {
      change(top.at, -1);
      way.pop();
    } else if (!seen.has(target)) enter(target);
  }
}

function searchBack(graph: ListGraph, keys: ContextKeys, from: number, key: string, work: { left: number }): boolean {
  const { list, previous, isReached } = graph;
  const seen = new Set<number>();
  const open = [from];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const before of previous[at] ?? []) {
      if (seen.has(before) || isReached[before] !== true) continue;
      work.left -= 1;
      if (work.left < 0) return true;
      const node = list.nodes[before];
      if (node !== undefined && keys.writtenBelow(node).has(key)) return true;
      seen.add(before);
      open.push(before);
    }
  }
  return false;
}
