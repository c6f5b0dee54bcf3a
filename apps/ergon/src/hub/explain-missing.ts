import { ErgonError, isErgonError, type PlanProblem } from "@ergon/core";

/** Says of tools that a plan names and that are not there why their servers do not have them. */
export function explainMissing(problems: readonly PlanProblem[], absences: ReadonlyMap<string, string>): PlanProblem[] {
  return problems.map((problem) => {
    if (problem.code !== "unknown_tool") return problem;
    const found = [...absences].find(([toolId]) => problem.message.includes(`"${toolId}"`));
    return found === undefined ? problem : { ...problem, message: found[1] };
  });
}

/** The same for a plan that was refused. */
export function explainRefusal(thrown: unknown, absences: ReadonlyMap<string, string>): unknown {
  if (!isErgonError(thrown) || thrown.code !== "plan_invalid" || absences.size === 0) return thrown;
  const before = (thrown.details?.["problems"] ?? []) as readonly PlanProblem[];
  const problems = explainMissing(before, absences);
  const first = before.findIndex(({ severity }) => severity === "error");
  const message = thrown.message.replace(before[first]?.message ?? "", problems[first]?.message ?? "");
  return new ErgonError("plan_invalid", message, { details: { ...thrown.details, problems }, cause: thrown });
}
