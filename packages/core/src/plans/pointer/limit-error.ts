import type { ErgonError } from "../../errors/ergon-error.ts";
import { planError } from "../../errors/plan.ts";
import { MAX_POINTER_DEPTH } from "./limits.ts";

export type PointerLimit = "length" | "nesting" | "depth" | "nodes" | "loads" | "bytes" | "work" | "references";

export function pointerLimit(
  limit: PointerLimit,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): ErgonError {
  return planError("pointer_limit", message, { details: { limit, ...details } });
}

export function tooDeep(): ErgonError {
  return pointerLimit("depth", `A value nests deeper than ${String(MAX_POINTER_DEPTH)} levels.`);
}
