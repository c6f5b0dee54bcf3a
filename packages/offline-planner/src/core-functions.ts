import type { PlannedAction, PlannerInput } from "@ergon/core";
import type { similarity } from "@ergon/core/store-kit";

/** What core hands over, because this package imports core by type only. */
export type CoreFunctions = {
  readonly missingArguments: (
    plan: readonly PlannedAction[],
    input: Pick<PlannerInput, "tools" | "context">,
  ) => Promise<ReadonlyMap<PlannedAction, readonly string[]>>;
  readonly similarity: typeof similarity;
  readonly maxPlannedTools: number;
};
