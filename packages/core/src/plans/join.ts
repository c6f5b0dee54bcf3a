import type { ContextRow, ContextValue, ContextWrite } from "../ports/state-store.ts";
import type { Json, JsonObject } from "../schema/values/json.ts";

/** Where actions leave what the prompts of those that follow may use, by action id (spec 2). */
export const DOWNSTREAM_KEY = "downstreamData";

/** What one branch or turn left behind, in branch or item order. */
export type ChildContext = { readonly index: number; readonly rows: readonly ContextRow[] };

/**
 * After branches: keys that `saveAs` wrote merge (preflight has seen to it that no two branches share one); a key that
 * came by itself, `<toolId>_result` or `human_input`, takes the last branch's. A saved key beats one that came by itself.
 */
export function joinBranches(scope: string, children: readonly ChildContext[]): ContextWrite[] {
  const merged = lastByItself(scope, children);
  for (const { rows } of children) {
    for (const row of rows) if (row.implicit !== true) merged.set(row.key, { scope, key: row.key, value: row.value });
  }
  return [...merged.values()];
}

/**
 * After a loop: every key that the loop can save holds the array of all turns in item order, null where a turn did not
 * save it. `valueOf` gives a row's value; what is a reference to a blob stays one.
 */
export function joinTurns(
  scope: string,
  children: readonly ChildContext[],
  loop: { readonly count: number; readonly savedKeys: readonly string[]; readonly valueOf: (row: ContextRow) => Json },
): ContextWrite[] {
  const merged = lastByItself(scope, children);
  const arrays = new Map(loop.savedKeys.map((key) => [key, Array.from({ length: loop.count }, (): Json => null)]));
  for (const { index, rows } of children) {
    for (const row of rows) {
      const array = row.implicit === true ? undefined : arrays.get(row.key);
      if (array !== undefined) array[index] = loop.valueOf(row);
    }
  }
  for (const [key, value] of arrays) merged.set(key, { scope, key, value: { kind: "inline", value } });
  return [...merged.values()];
}

function lastByItself(scope: string, children: readonly ChildContext[]): Map<string, ContextWrite> {
  const last = new Map<string, ContextWrite>();
  for (const { rows } of children) {
    for (const row of rows) {
      if (row.implicit !== true) continue;
      const value = row.key === DOWNSTREAM_KEY ? mergedDownstream(last.get(row.key)?.value, row.value) : row.value;
      last.set(row.key, { scope, key: row.key, implicit: true, value });
    }
  }
  return last;
}

/** Branches add to it side by side, each to its own copy: all of what they added counts. */
function mergedDownstream(earlier: ContextValue | undefined, later: ContextValue): ContextValue {
  if (earlier?.kind !== "inline" || later.kind !== "inline") return later;
  return { kind: "inline", value: { ...objectIn(earlier.value), ...objectIn(later.value) } };
}

function objectIn(value: Json): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
