import { type AgenticPlan, didYouMean, type ErgonError, planError, type PlanLookup } from "@ergon/core";
import type { CapabilityProblem, LoadedPlan } from "@ergon/node";
import type { Capabilities } from "./capability-report.ts";

export type PlanBooks = PlanLookup & {
  readonly all: readonly LoadedPlan[];
  readonly problems: readonly CapabilityProblem[];
};

/** The plans of all capability folders, ours first: a user's plan cannot take the name of one of ours. */
export async function gatherPlans({ folders }: Capabilities): Promise<PlanBooks> {
  const byId = new Map<string, LoadedPlan>();
  const problems: CapabilityProblem[] = [];
  for (const folder of folders) {
    const loaded = await folder.plans();
    problems.push(...loaded.problems);
    for (const plan of loaded.plans) {
      const earlier = byId.get(plan.id);
      if (earlier === undefined) byId.set(plan.id, plan);
      else
        problems.push({
          file: plan.file,
          code: "plan_duplicate",
          reason: `Plan "${plan.id}" is in ${earlier.file} already.`,
        });
    }
  }
  const all = [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  const get = (planId: string): AgenticPlan | undefined => byId.get(planId)?.plan;
  return { get, ids: () => [...byId.keys()], all, problems };
}

export function planNotFound(planId: string, plans: PlanLookup): ErgonError {
  return planError("plan_not_found", `There is no plan "${planId}".${didYouMean(planId, plans.ids())}`, {
    details: { planId },
  });
}
