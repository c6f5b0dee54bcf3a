import { AgenticPlan } from "@ergon/core";
import { jsonProblem, planError, pointerTo } from "@ergon/core/schema";

/** Throws `plan_invalid` with everything in it that is not a plan. */
export function readPlan(given: unknown): AgenticPlan {
  const notJson = jsonProblem(given, { undefinedIsAbsent: true });
  if (notJson !== undefined) throw planError("plan_invalid", `${nameOf(given)} is not a plan: it holds ${notJson}.`);
  const parsed = AgenticPlan.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, code, message }) => ({ path: pointerTo(path), code, message }));
  const listed = problems.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
  throw planError("plan_invalid", `${nameOf(given)} is not a plan: ${listed}.`, { details: { problems } });
}

function nameOf(given: unknown): string {
  const id = typeof given === "object" && given !== null && "planId" in given ? given.planId : undefined;
  return typeof id === "string" ? `"${id.slice(0, 128)}"` : "What was given as a plan";
}
