import type { PlanLookup } from "@ergon/core";
import type { CapabilityProblem, LoadedPlan } from "@ergon/node";
import type { Capabilities } from "./capability-report.ts";

export type PlanBooks = PlanLookup & {
  readonly all: readonly LoadedPlan[];
  readonly problems: readonly CapabilityProblem[];
  /** Reads the folders again; says whether there are other plans now. Absent where they stay what they are. */
  readonly reload?: () => Promise<boolean>;
};

/** The plans of all capability folders, ours first: a user's plan cannot take the name of one of ours. */
export async function gatherPlans({ folders }: Capabilities): Promise<PlanBooks> {
  let shelf = await readShelf(folders);
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
      const next = await readShelf(folders);
      const isSame = JSON.stringify(next.all) === JSON.stringify(shelf.all);
      if (!isSame) shelf = next;
      return !isSame;
    },
  };
}

type Shelf = Pick<PlanBooks, "all" | "problems"> & { readonly byId: ReadonlyMap<string, LoadedPlan> };

async function readShelf(folders: Capabilities["folders"]): Promise<Shelf> {
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
  return { byId, all, problems };
}
