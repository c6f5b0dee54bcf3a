import { AgenticPlan } from "@ergon/core";
import { jsonProblem, pointerTo } from "@ergon/core/schema";
import { planProblem, readPlanDocument } from "./plan-document.ts";
import { type CapabilityFile, type CapabilityProblem, scanFolder } from "./scan-folder.ts";

export type LoadedPlan = { readonly id: string; readonly file: string; readonly plan: AgenticPlan };
export type LoadedPlans = { readonly plans: readonly LoadedPlan[]; readonly problems: readonly CapabilityProblem[] };

/** The plans that are in a folder now, and what is wrong with the folder; of its code nothing is loaded. */
export async function folderPlans(folder: string): Promise<LoadedPlans> {
  const { files, problems } = await scanFolder(folder);
  const loaded = await loadPlans(files);
  return { plans: loaded.plans, problems: [...problems, ...loaded.problems] };
}

/** Reads and parses plan files. Whether a plan can run is preflight's question; here it is only known by its form. */
export async function loadPlans(files: readonly CapabilityFile[]): Promise<LoadedPlans> {
  const plans = new Map<string, LoadedPlan>();
  const problems: CapabilityProblem[] = [];
  for (const { kind, file } of files) {
    if (kind !== "plan") continue;
    const read = await readPlan(file);
    if ("problem" in read) {
      problems.push(read.problem);
      continue;
    }
    const { planId } = read.plan;
    const earlier = plans.get(planId);
    if (earlier === undefined) plans.set(planId, { id: planId, file, plan: read.plan });
    else problems.push(planProblem(file, `Plan "${planId}" is in ${earlier.file} already; each id stands once.`));
  }
  return { plans: [...plans.values()], problems };
}

type ReadPlan = { readonly plan: AgenticPlan } | { readonly problem: CapabilityProblem };

async function readPlan(file: string): Promise<ReadPlan> {
  const document = await readPlanDocument(file);
  if ("problem" in document) return document;
  const notJson = jsonProblem(document.value);
  if (notJson !== undefined) return { problem: planProblem(file, `It holds ${notJson}.`) };
  const parsed = AgenticPlan.safeParse(document.value);
  if (parsed.success) return { plan: parsed.data };
  const issues = parsed.error.issues.map(({ path, code, message }) => ({
    path: pointerTo(path),
    code,
    message,
    ...document.locate(path),
  }));
  const listed = issues.map(({ path, message, line, column }) => {
    return `${path === "" ? "the plan" : path} (line ${String(line)}, column ${String(column)}): ${message}`;
  });
  return { problem: { ...planProblem(file, `It is not a plan: ${listed.join("; ")}`), details: { issues } } };
}
