import type { PlanProblem } from "../../schema/plan.ts";
import { comparePaths } from "./path-order.ts";

/** One answer lists at most this many problems. */
export const MAX_PROBLEMS = 200;
/** Kept of each severity until the answer is made, so that a plan that is wrong throughout costs no memory. */
export const MAX_KEPT_PROBLEMS = 5_000;

/** A suggestion costs time, so a message may be made when it is known to be shown. */
type Message = string | (() => string);

export type Problems = {
  error(path: string, code: string, message: Message): void;
  warning(path: string, code: string, message: Message): void;
  add(severity: PlanProblem["severity"], problem: Finding): void;
  readonly hasErrors: () => boolean;
  /** In the order of their paths. Where there are too many, warnings give way to errors. */
  readonly list: () => PlanProblem[];
};

type Finding = { readonly path: string; readonly code: string; readonly message: Message };

export function createProblems(): Problems {
  const found = { error: [] as Finding[], warning: [] as Finding[] };
  let count = 0;
  const add = (severity: PlanProblem["severity"], finding: Finding): void => {
    count += 1;
    if (found[severity].length < MAX_KEPT_PROBLEMS) found[severity].push(finding);
  };
  return {
    error: (path, code, message) => add("error", { path, code, message }),
    warning: (path, code, message) => add("warning", { path, code, message }),
    add,
    hasErrors: () => found.error.length > 0,
    list: () => {
      const errors = firstOf(found.error, MAX_PROBLEMS).map((finding) => shown(finding, "error"));
      const warnings = firstOf(found.warning, MAX_PROBLEMS - errors.length).map((finding) => shown(finding, "warning"));
      const listed = [...errors, ...warnings].sort((a, b) => comparePaths(a.path, b.path));
      return count > listed.length ? [...listed, tooMany(count, found.error.length > 0)] : listed;
    },
  };
}

/** The same problems, without what is said of these places and of what is in them: they have theirs already. */
export function problemsOutside(problems: Problems, places: readonly string[]): Problems {
  const isInside = (path: string): boolean =>
    places.some((place) => path.startsWith(place) && ENDS.has(path.charAt(place.length)));
  const add: Problems["add"] = (severity, finding) => {
    if (!isInside(finding.path)) problems.add(severity, finding);
  };
  return {
    ...problems,
    error: (path, code, message) => add("error", { path, code, message }),
    warning: (path, code, message) => add("warning", { path, code, message }),
    add,
  };
}

/** What may follow the path of a place in a path to what is in it; nothing, when it is the place itself. */
const ENDS: ReadonlySet<string> = new Set(["", ".", "["]);

function firstOf(findings: readonly Finding[], limit: number): Finding[] {
  return findings.toSorted((a, b) => comparePaths(a.path, b.path)).slice(0, limit);
}

function shown({ path, code, message }: Finding, severity: PlanProblem["severity"]): PlanProblem {
  return { path, code, message: typeof message === "string" ? message : message(), severity };
}

function tooMany(count: number, hasErrors: boolean): PlanProblem {
  return {
    path: "$",
    code: "too_many_problems",
    message: `There are ${String(count)} problems; the first ${String(MAX_PROBLEMS)} are listed, errors before warnings.`,
    severity: hasErrors ? "error" : "warning",
  };
}
