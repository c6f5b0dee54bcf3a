import { copyJson, jsonProblem, type Json } from "../../schema/json.ts";
import { childPath } from "../pointer/json-location.ts";

export type PlainCopy =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly path: string; readonly problem: string };

/**
 * Reads a value once, so that all later checks see the same plain data, whatever getters or proxies the original has.
 * Depth is bounded here: everything after may recurse.
 */
export function plainCopy(value: unknown): PlainCopy {
  const problem = jsonProblem(value, { undefinedIsAbsent: true });
  if (problem !== undefined) return { ok: false, ...located(problem) };
  try {
    const copy = copyJson(value as Json);
    // A getter may have given something else the second time.
    const changed = jsonProblem(copy);
    return changed === undefined ? { ok: true, value: copy } : { ok: false, ...located(changed) };
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : "its getter threw";
    return { ok: false, path: "$", problem: `a value that cannot be read (${reason})` };
  }
}

/** The problem's text ends with the JSON Pointer of its place. */
function located(problem: string): { path: string; problem: string } {
  const found = PLACE.exec(problem);
  if (found === null) return { path: "$", problem };
  const parts = (found[1] ?? "").split("/").slice(1);
  const path = parts.reduce((parent, part) => childPath(parent, partOf(part)), "$");
  return { path, problem: problem.slice(0, found.index) };
}

const PLACE = /, at (\/.*)$/s;

function partOf(part: string): string | number {
  return /^\d+$/.test(part) ? Number(part) : part.replaceAll("~1", "/").replaceAll("~0", "~");
}
