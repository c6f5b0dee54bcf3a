import type { AgenticPlan } from "../../../schema/plan.ts";
import { compilePlan, type CompiledPlan } from "../../compiled-plan.ts";

export const PLAN_CACHE_SIZE = 256;

/** Plans by their hash, compiled once; the oldest make room. */
export type CompiledPlans = {
  readonly get: (hash: string) => CompiledPlan | undefined;
  readonly compiled: (hash: string, plan: AgenticPlan) => CompiledPlan;
};

export function createCompiledPlans(): CompiledPlans {
  const plans = new Map<string, CompiledPlan>();
  return {
    get: (hash) => plans.get(hash),
    compiled: (hash, plan) => {
      let found = plans.get(hash);
      if (found === undefined) {
        found = compilePlan(plan);
        plans.set(hash, found);
        for (const oldest of plans.keys()) {
          if (plans.size <= PLAN_CACHE_SIZE) break;
          plans.delete(oldest);
        }
      }
      return found;
    },
  };
}
