import type { LoopBoundsByType } from "@ergon/core/engine";
import type { SettingValues } from "@ergon/node";

/** What `FSDD_LOOP_*` says. */
export function loopBoundsOf(values: SettingValues): LoopBoundsByType {
  return {
    plan: { threshold: values.loopPlanThreshold, maxIterations: values.loopPlanMaxIterations },
    spec: { threshold: values.loopSpecThreshold, maxIterations: values.loopSpecMaxIterations },
    build_plan: { threshold: values.loopBuildPlanThreshold, maxIterations: values.loopBuildPlanMaxIterations },
    build_code: { threshold: values.loopBuildCodeThreshold, maxIterations: values.loopBuildCodeMaxIterations },
  };
}
