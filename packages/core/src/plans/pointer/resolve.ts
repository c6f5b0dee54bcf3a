import type { Json } from "../../schema/values/json.ts";
import type { CompiledPointer } from "./compile.ts";
import { eachNode, singleNode } from "./evaluate.ts";
import { pointerLimit } from "./limit-error.ts";
import { MAX_POINTER_LOADS, MAX_POINTER_NODES } from "./limits.ts";
import type { Load, PointerView } from "./view.ts";
import { createWalk, loadsOf, MISSING, type Walk, whole } from "./walk.ts";

/*
 * Finds what a pointer points at. Loading belongs to the driver, waiting to the engine, copying to the gate.
 *
 * R1  Synchronous and pure: the same view gives the same answer, and a view that has more in memory gives no other one.
 * R2  What is not in memory is never taken for absent: the answer is `needs`, with everything that could be found out.
 * R3  A singular query gives its node, any other an array, `first` its first element.
 * R4  Only what a value owns is found; nothing in a path is ever run as code.
 * R5  Every attempt ends: nodes, depth, work, loads and bytes are bounded, and a bound is a `pointer_limit`.
 * R6  Answers share structure with the view. Whoever lets a tool change its arguments copies them first.
 */

export type PointerOptions = {
  /** The first match, instead of the array of all. */
  readonly first?: boolean;
  /**
   * `through` follows references on the way and returns one that the path ends at, so that a value can be saved again
   * without being copied. `end` (the default) also puts the content in place of that one and of those inside the value.
   */
  readonly deref?: "through" | "end";
};

export type Found<T = Json> = { readonly kind: "value"; readonly value: T };
export type Absent = { readonly kind: "absent" };
export type Needs = { readonly kind: "needs"; readonly loads: readonly Load[] };

/** Throws `pointer_limit`, and `blob_not_found` when the store has lost a blob. */
export function resolvePointer(
  pointer: CompiledPointer,
  view: PointerView,
  options: PointerOptions = {},
): Found | Absent | Needs {
  const walk = createWalk(view);
  const value = seek(walk, pointer, options);
  if (walk.misses > 0) return needs(walk);
  return value === undefined ? ABSENT : { kind: "value", value: value as Json };
}

/** Asks, brings what is missing, and asks again, until there is an answer. */
export async function resolveWith<Answer extends { readonly kind: string }>(
  attempt: () => Answer | Needs,
  load: (loads: readonly Load[]) => Promise<void>,
): Promise<Answer> {
  let loaded = 0;
  for (;;) {
    const answer = attempt();
    if (!isNeeds(answer)) return answer;
    loaded += answer.loads.length;
    if (loaded > MAX_POINTER_LOADS) {
      throw pointerLimit("loads", `One resolution may load ${String(MAX_POINTER_LOADS)} things at most.`);
    }
    await load(answer.loads);
  }
}

/** Resolves as a part of a larger attempt: undefined when absent, MISSING when something has to be loaded. */
export function seek(walk: Walk, pointer: CompiledPointer, options: PointerOptions): unknown {
  const misses = walk.misses;
  const found = pointer.singular ? singleNode(walk, pointer.query, undefined) : seekAll(walk, pointer, options);
  if (walk.misses > misses) return MISSING;
  const value = options.deref === "through" ? found : whole(walk, found);
  return walk.misses > misses ? MISSING : value;
}

export function needs(walk: Walk): Needs {
  return { kind: "needs", loads: loadsOf(walk) };
}

const ABSENT: Absent = { kind: "absent" };

function seekAll(walk: Walk, pointer: CompiledPointer, options: PointerOptions): unknown {
  const found: unknown[] = [];
  const wanted = options.first === true ? 1 : MAX_POINTER_NODES;
  walk.eager = options.first === true;
  eachNode(walk, pointer.query, undefined, (value) => {
    if (found.length === MAX_POINTER_NODES) throw tooMany(pointer);
    return found.push(value) === wanted && walk.eager;
  });
  walk.eager = false;
  return options.first === true ? found[0] : found;
}

function tooMany(pointer: CompiledPointer): Error {
  return pointerLimit("nodes", `"${pointer.source}" selects more than ${String(MAX_POINTER_NODES)} nodes.`, {
    jsonPath: pointer.source,
  });
}

function isNeeds<Answer extends { readonly kind: string }>(answer: Answer | Needs): answer is Needs {
  return answer.kind === "needs";
}
