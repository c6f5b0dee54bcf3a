import {
  MAX_JSON_DEPTH,
  MAX_JSON_NODES,
  putField,
  scalarProblem,
  unreadable,
  type Json,
} from "../../schema/values/json.ts";
import { childPath } from "../pointer/json-location.ts";

/** One copy names at most this many places that are not JSON. */
export const MAX_FAULTS = 100;

type Fault = { readonly path: string; readonly problem: string };

export type PlainCopy =
  | { readonly ok: true; readonly value: Json }
  | {
      readonly ok: false;
      readonly faults: readonly Fault[];
      /** The copy with a stand-in at each fault; undefined when it was not read to its end. */
      readonly rest: Json | undefined;
    };

/** A pointer: every check takes it for a value that is not known before a run. */
const STAND_IN: Json = { jsonPath: "$.history[0].result.output" };

/**
 * Reads a value once, so that all later checks see the same plain data, whatever getters or proxies the original has.
 * Depth is bounded here: everything after may recurse.
 */
export function plainCopy(value: unknown): PlainCopy {
  const copying: Copying = { path: [], open: new Set(), nodes: 0, faults: [], isStopped: false };
  const copy = guarded(copying, [value], 0) as Json;
  const { faults, isStopped } = copying;
  return faults.length === 0 ? { ok: true, value: copy } : { ok: false, faults, rest: isStopped ? undefined : copy };
}

type Copying = {
  readonly path: (string | number)[];
  /** The containers on the way down to here; meeting one again is a cycle. */
  readonly open: Set<object>;
  nodes: number;
  readonly faults: Fault[];
  /** True when reading on is of no use: nothing is left to check, or the answer is full. */
  isStopped: boolean;
};

/** The copy of one member; undefined for a field that is undefined, which is absent, as it is for JSON.stringify. */
function guarded(at: Copying, container: object, key: string | number): unknown {
  try {
    const value = (container as Record<string | number, unknown>)[key];
    return value === undefined && typeof key === "string" ? undefined : copied(at, value);
  } catch (thrown) {
    return standIn(at, unreadable(thrown));
  }
}

function copied(at: Copying, value: unknown): unknown {
  at.nodes += 1;
  if (at.nodes > MAX_JSON_NODES) return stop(at, `more than ${String(MAX_JSON_NODES)} values`);
  const problem = scalarProblem(value);
  if (problem === undefined) return value;
  if (problem !== null) return standIn(at, problem);
  const container = value as object;
  if (at.open.size >= MAX_JSON_DEPTH) return standIn(at, `a value nested deeper than ${String(MAX_JSON_DEPTH)} levels`);
  if (at.open.has(container)) return standIn(at, "a value that contains itself");
  at.open.add(container);
  try {
    return Array.isArray(container) ? copiedList(at, container) : copiedObject(at, container);
  } finally {
    at.open.delete(container);
  }
}

function copiedList(at: Copying, items: readonly unknown[]): unknown[] {
  const copy: unknown[] = [];
  const { length } = items;
  for (let index = 0; index < length && !at.isStopped; index += 1) {
    at.path.push(index);
    copy.push(guarded(at, items, index));
    at.path.pop();
  }
  return copy;
}

function copiedObject(at: Copying, container: object): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(container)) {
    if (at.isStopped) break;
    at.path.push(key);
    const field = guarded(at, container, key);
    at.path.pop();
    if (field !== undefined) putField(copy, key, field);
  }
  return copy;
}

function standIn(at: Copying, problem: string): Json {
  if (at.faults.length >= MAX_FAULTS) return stop(at, `more than ${String(MAX_FAULTS)} values that are not JSON`);
  at.faults.push({ path: at.path.reduce<string>(childPath, "$"), problem });
  at.isStopped ||= at.path.length === 0;
  return STAND_IN;
}

function stop(at: Copying, problem: string): Json {
  if (!at.isStopped) at.faults.push({ path: "$", problem });
  at.isStopped = true;
  return STAND_IN;
}
