import { componentsOf } from "./components.ts";
import { edgesOf, type Edge } from "./edges.ts";
import type { StepList, StepNode } from "../outline.ts";
import type { Suggester } from "../suggester.ts";

/** The steps of one list, by their place in it, and the ways between them. */
export type ListGraph = {
  readonly list: StepList;
  readonly ids: readonly string[];
  readonly start: number | undefined;
  readonly next: readonly (readonly number[])[];
  readonly previous: readonly (readonly number[])[];
  /** Steps at which the list can end, or whose way on is not known. */
  readonly isExit: readonly boolean[];
  readonly isReached: readonly boolean[];
  /** Steps that lead to each other have one number; a step leads to another only if its number is not smaller. */
  readonly component: readonly number[];
  /** By component: whether a step of it can run again. */
  readonly isCycle: readonly boolean[];
  /** Names that no step of the list has. */
  readonly dangling: readonly { readonly node: StepNode; readonly edge: Edge & { readonly to: string } }[];
};

export type GraphParts = {
  /** The plan's start; a nested list starts with its first step. */
  readonly startId: string | undefined;
  /** All steps of the plan. */
  readonly byId: ReadonlyMap<string, StepNode>;
  readonly suggester: Suggester;
};

/** Shorter names are too near to each other to guess which one was meant. */
const MIN_GUESS_LENGTH = 3;

/** A name that no step has is read as the one that was meant, where it can be guessed: what follows is then not lost. */
export function graphOf(list: StepList, { startId, byId, suggester }: GraphParts): ListGraph {
  const places = new Map<string, number>();
  for (const { id, at } of list.nodes) if (id !== undefined && !places.has(id)) places.set(id, at);
  const ids = [...places.keys()];
  const meant = (id: string): number | undefined => {
    const place = places.get(id);
    if (place !== undefined || byId.has(id) || id.length < MIN_GUESS_LENGTH) return place;
    return places.get(suggester.find(id, ids) ?? "");
  };
  const next: number[][] = list.nodes.map(() => []);
  const previous: number[][] = list.nodes.map(() => []);
  const isExit = list.nodes.map(() => false);
  const dangling: ListGraph["dangling"][number][] = [];
  for (const node of list.nodes) {
    for (const edge of edgesOf(node)) {
      const { to } = edge;
      const isGuess = node.form === undefined;
      const target = to === undefined ? undefined : isGuess ? places.get(to) : meant(to);
      if (to === undefined || !places.has(to)) isExit[node.at] = true;
      if (to !== undefined && !isGuess && !places.has(to)) dangling.push({ node, edge: { ...edge, to } });
      if (target === undefined || next[node.at]?.includes(target) === true) continue;
      next[node.at]?.push(target);
      previous[target]?.push(node.at);
    }
    if (node.form === undefined) isExit[node.at] = true;
  }
  const start = list.owner === undefined ? (startId === undefined ? undefined : meant(startId)) : list.nodes[0]?.at;
  return { list, ids, start, next, previous, isExit, dangling, ...componentsOf(next, start) };
}
