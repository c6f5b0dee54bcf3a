import type { JournalRow } from "../../ports/state-store.ts";
import { canonicalJson } from "../../schema/values/hash.ts";
import type { Json } from "../../schema/values/json.ts";
import type { DiffCall, DiffSide, DiffStep, DiffValue, RunDiff } from "../../schema/run-diff.ts";
import type { SessionContext, SessionCore } from "../../schema/session.ts";

/** Steps and context keys that an answer shows; those that differ go before those that do not. */
export const MAX_DIFF_STEPS = 1_000;
export const MAX_DIFF_KEYS = 1_000;
/** Values whose JSON is longer are not shown. */
export const MAX_DIFF_CHARS = 4 * 1024;

/** One side: a session, the calls of its latest run with their names, and its context. */
export type ComparedRun = {
  readonly core: SessionCore;
  readonly calls: readonly { readonly name: string; readonly row: JournalRow }[];
  readonly context: SessionContext;
  /** Not all calls were read. */
  readonly isCut: boolean;
};

/** Lays two runs beside each other, in the order of the first; what only the second did comes behind. */
export function diffRuns(one: ComparedRun, other: ComparedRun): RunDiff {
  const left = byPath(one);
  const right = byPath(other);
  const all: DiffStep[] = [];
  for (const [path, row] of left) {
    const match = right.get(path);
    if (match === undefined) all.push({ path, change: "only_a", differs: [], a: shownCall(row) });
    else all.push(comparedStep(path, row, match));
  }
  for (const [path, row] of right)
    if (!left.has(path)) all.push({ path, change: "only_b", differs: [], b: shownCall(row) });
  const context = diffContext(one.context, other.context);
  const count = (change: DiffStep["change"]): number => all.filter((step) => step.change === change).length;
  return {
    a: sideOf(one),
    b: sideOf(other),
    same: count("same"),
    changed: count("changed"),
    onlyA: count("only_a"),
    onlyB: count("only_b"),
    steps: firstSteps(all),
    context: context.slice(0, MAX_DIFF_KEYS),
    isCut: one.isCut || other.isCut || all.length > MAX_DIFF_STEPS || context.length > MAX_DIFF_KEYS,
  };
}

/** A step that was visited more than once has a number from its second visit on. */
function byPath({ calls }: ComparedRun): Map<string, JournalRow> {
  const seen = new Map<string, number>();
  const rows = new Map<string, JournalRow>();
  for (const { name, row } of calls) {
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    rows.set(times === 1 ? name : `${name}#${String(times)}`, row);
  }
  return rows;
}

function comparedStep(path: string, one: JournalRow, other: JournalRow): DiffStep {
  const differs: DiffStep["differs"] = [];
  if (one.toolId !== other.toolId) differs.push("tool");
  if (one.state !== other.state) differs.push("state");
  if (!isSame(one.request, other.request)) differs.push("arguments");
  if (!isSame(part(one, "output"), part(other, "output"))) differs.push("output");
  if (!isSame(part(one, "error"), part(other, "error"))) differs.push("error");
  const change = differs.length === 0 ? "same" : "changed";
  return { path, change, differs, a: shownCall(one), b: shownCall(other) };
}

function part({ result }: JournalRow, key: "output" | "error"): Json | undefined {
  return (result as { readonly output?: Json; readonly error?: Json } | undefined)?.[key];
}

function isSame(one: Json | undefined, other: Json | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return canonicalJson(one) === canonicalJson(other);
}

function shownCall(row: JournalRow): DiffCall {
  const { toolId, state, request, result, energyUnits, startedAt, finishedAt } = row;
  const duration = finishedAt === undefined ? {} : { durationMs: Date.parse(finishedAt) - Date.parse(startedAt) };
  const error = result !== undefined && "error" in result ? { error: result.error } : {};
  const output = result !== undefined && "output" in result ? shown("output", result.output) : {};
  return { toolId, state, ...shown("arguments", request), ...output, ...error, ...duration, energyUnits };
}

function shown<Key extends string>(key: Key, value: Json | undefined): { readonly [K in Key]?: Json } {
  const fits = value !== undefined && JSON.stringify(value).length <= MAX_DIFF_CHARS;
  return (fits ? { [key]: value } : {}) as { readonly [K in Key]?: Json };
}

function diffContext(one: SessionContext, other: SessionContext): DiffValue[] {
  const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])].sort();
  return keys.flatMap((key): DiffValue[] => {
    const a = Object.hasOwn(one, key) ? one[key] : undefined;
    const b = Object.hasOwn(other, key) ? other[key] : undefined;
    if (isSame(a, b)) return [];
    const change = a === undefined ? "only_b" : b === undefined ? "only_a" : "changed";
    return [{ key, change, ...shown("a", a), ...shown("b", b) }];
  });
}

function sideOf({ core, calls }: ComparedRun): DiffSide {
  const { sessionId, status, currentPlanId, forkedFrom } = core;
  const units = calls.reduce((sum, { row }) => sum + row.energyUnits, 0);
  let first = "";
  let last = "";
  for (const { row } of calls) {
    if (first === "" || row.startedAt < first) first = row.startedAt;
    const end = row.finishedAt ?? row.startedAt;
    if (end > last) last = end;
  }
  return {
    sessionId,
    status,
    ...(currentPlanId === undefined ? {} : { planId: currentPlanId }),
    ...(forkedFrom === undefined ? {} : { forkedFrom }),
    calls: calls.length,
    energyUnits: Math.round(units * 1e6) / 1e6,
    durationMs: first === "" ? 0 : Date.parse(last) - Date.parse(first),
  };
}

/** When there are too many, those that are the same make room first. */
function firstSteps(all: readonly DiffStep[]): DiffStep[] {
  if (all.length <= MAX_DIFF_STEPS) return [...all];
  let room = MAX_DIFF_STEPS - Math.min(MAX_DIFF_STEPS, all.filter(({ change }) => change !== "same").length);
  return all.filter(({ change }) => change !== "same" || room-- > 0).slice(0, MAX_DIFF_STEPS);
}
