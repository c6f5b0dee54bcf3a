import type { AgenticPlan } from "@ergon/core";
import type { PlanLookup } from "@ergon/core/engine";
import { type CapabilityProblem, folderPlans, type LoadedPlan, type LoadedPlans, packPlans } from "@ergon/node";
import type { CapabilityPlace } from "./capability-report.ts";

export type PlanCatalog = PlanLookup & {
  readonly all: readonly LoadedPlan[];
  readonly problems: readonly CapabilityProblem[];
  /** Reads the folders again; says whether there are other plans now. Absent where they stay what they are. */
  readonly reload?: () => Promise<boolean>;
};

/** The plans given and those of all places; the earlier one keeps its name. No tool is loaded for them. */
export async function gatherPlans(
  places: readonly CapabilityPlace[],
  given: readonly AgenticPlan[] = [],
): Promise<PlanCatalog> {
  let shelf = await readCatalog(places, given);
  return {
    get: (planId) => shelf.byId.get(planId)?.plan,
    ids: () => [...shelf.byId.keys()],
    get all() {
      return shelf.all;
    },
    get problems() {
      return shelf.problems;
    },
    reload: async () => {
      const next = await readCatalog(places, given);
      const isSame = JSON.stringify(next.all) === JSON.stringify(shelf.all);
      if (!isSame) shelf = next;
      return !isSame;
    },
  };
}

type Catalog = Pick<PlanCatalog, "all" | "problems"> & { readonly byId: ReadonlyMap<string, LoadedPlan> };

/** As they are now: they may have come or gone since they were last read. */
export function plansIn({ folder, source }: CapabilityPlace): Promise<LoadedPlans> {
  return source === "builtin" ? packPlans(folder) : folderPlans(folder);
}

async function readCatalog(places: readonly CapabilityPlace[], given: readonly AgenticPlan[]): Promise<Catalog> {
  const own = given.map((plan) => [plan.planId, { id: plan.planId, file: "the program", plan }] as const);
  const byId = new Map<string, LoadedPlan>(own);
  const problems: CapabilityProblem[] = [];
  for (const place of places) {
    const loaded = await plansIn(place);
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
  return { byId, all, problems };
}
