import { planError } from "../../errors/plan.ts";
import { HISTORY_SCAN_LIMIT } from "./limits.ts";
import { singularHops } from "./parse.ts";
import type { Operand, Query, Segment, Selector, Start, Test } from "./query.ts";

/** A part of the document that a pointer looks at. */
export type PointerRead = {
  readonly root: "context" | "history" | "promptInput" | "all";
  /** The first name under `context` or `promptInput`, when the path names one. */
  readonly key?: string;
  readonly history?: HistoryAccess;
};

/** `scan` sees the newest HISTORY_SCAN_LIMIT entries and no others; the rest is exact. */
type HistoryAccess =
  | { readonly kind: "index"; readonly n: number }
  | { readonly kind: "step"; readonly stepId: string }
  | { readonly kind: "newest"; readonly limit: number }
  | { readonly kind: "scan" };

export type PlannedQuery = { readonly query: Query; readonly read: PointerRead };

/** Decides which part of the document an absolute query needs, and takes that much off its path. */
export function planQuery(segments: readonly Segment[], source: string, position: number): PlannedQuery {
  const root = soleSelector(segments[0]);
  if (root === undefined || root.kind === "wildcard" || root.kind === "filter") {
    return planned({ kind: "all" }, segments, { root: "all", history: { kind: "scan" } });
  }
  const rest = segments.slice(1);
  const name = root.kind === "name" ? root.name : undefined;
  if (name === "context") return planContext(rest);
  if (name === "promptInput") return planPromptInput(rest);
  if (name === "history") return planHistory(rest);
  throw planError(
    "pointer_invalid",
    `"${source}" leads nowhere: a pointer starts with $.context, $.history or $.promptInput.`,
    { details: { jsonPath: source, position } },
  );
}

function planned(start: Start, segments: readonly Segment[], read: PointerRead): PlannedQuery {
  return { query: { start, segments, hops: singularHops(segments) }, read };
}

function planContext(segments: readonly Segment[]): PlannedQuery {
  const key = nameOf(segments[0]);
  if (key === undefined) return planned({ kind: "context" }, segments, { root: "context" });
  return planned({ kind: "context-key", key }, segments.slice(1), { root: "context", key });
}

function planPromptInput(segments: readonly Segment[]): PlannedQuery {
  const key = nameOf(segments[0]);
  const read: PointerRead = key === undefined ? { root: "promptInput" } : { root: "promptInput", key };
  return planned({ kind: "prompt-input" }, segments, read);
}

function planHistory(segments: readonly Segment[]): PlannedQuery {
  const [first, ...rest] = segments;
  const only = soleSelector(first);
  if (only?.kind === "index" && only.index >= 0) {
    const history: HistoryAccess = { kind: "index", n: only.index };
    return planned({ kind: "history-at", index: only.index }, rest, { root: "history", history });
  }
  const stepId = only?.kind === "filter" ? stepIdOf(only.test) : undefined;
  if (stepId !== undefined) {
    // The filter stays on the path: it may ask for more than the step.
    const history: HistoryAccess = { kind: "step", stepId };
    return planned({ kind: "history-step", stepId }, segments, { root: "history", history });
  }
  const limit = newestOf(first);
  if (limit !== undefined && limit <= HISTORY_SCAN_LIMIT) {
    const history: HistoryAccess = { kind: "newest", limit };
    return planned({ kind: "history-newest", limit }, segments, { root: "history", history });
  }
  const start: Start = { kind: "history-newest", limit: HISTORY_SCAN_LIMIT };
  return planned(start, segments, { root: "history", history: { kind: "scan" } });
}

/** The step that every match of this filter must belong to, if it names one. */
function stepIdOf(test: Test): string | undefined {
  if (test.kind === "and") {
    for (const part of test.tests) {
      const stepId = stepIdOf(part);
      if (stepId !== undefined) return stepId;
    }
    return undefined;
  }
  if (test.kind !== "compare" || test.operator !== "==") return undefined;
  const { left, right } = test;
  if (isStepId(left)) return textOf(right);
  return isStepId(right) ? textOf(left) : undefined;
}

function isStepId(operand: Operand): boolean {
  if (operand.kind !== "node" || operand.query.start.kind !== "current") return false;
  const { hops } = operand.query;
  return hops?.length === 1 && hops[0] === "planStepId";
}

function textOf(operand: Operand): string | undefined {
  return operand.kind === "literal" && typeof operand.value === "string" ? operand.value : undefined;
}

/** How many of the newest entries answer this segment exactly; undefined when that depends on the history's length. */
function newestOf(segment: Segment | undefined): number | undefined {
  if (segment === undefined || segment.descendant) return undefined;
  let limit = 1;
  for (const selector of segment.selectors) {
    const reach = reachOf(selector);
    if (reach === undefined) return undefined;
    limit = Math.max(limit, reach);
  }
  return limit;
}

function reachOf(selector: Selector): number | undefined {
  if (selector.kind === "index") return selector.index >= 0 ? selector.index + 1 : undefined;
  if (selector.kind !== "slice" || selector.step < 0 || (selector.start ?? 0) < 0) return undefined;
  return selector.stop === undefined || selector.stop < 0 ? undefined : selector.stop;
}

function soleSelector(segment: Segment | undefined): Selector | undefined {
  if (segment === undefined || segment.descendant || segment.selectors.length !== 1) return undefined;
  return segment.selectors[0];
}

function nameOf(segment: Segment | undefined): string | undefined {
  const only = soleSelector(segment);
  return only?.kind === "name" ? only.name : undefined;
}
