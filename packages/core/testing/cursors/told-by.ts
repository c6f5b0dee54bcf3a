import type { Cursor } from "../../src/plans/cursor.ts";
import { placedWaits, statusOf } from "../../src/plans/engine/waits/waits.ts";
import { indexPlan, owed } from "../../src/plans/interpreter.ts";
import type { AgenticPlan } from "../../src/schema/plan.ts";

/** What a run does next by its cursor: its status, what a restart begins, and what it waits for. */
export function toldBy(plan: AgenticPlan, cursor: Cursor): readonly string[] {
  const indexed = indexPlan(plan);
  return [
    statusOf(cursor),
    ...owed(indexed, cursor).map((effect) => `${effect.kind} ${effect.stepId} at ${effect.position}`),
    ...placedWaits(indexed, cursor).map(
      ({ wait, position }) => `waits for ${wait.kind} in ${wait.path} at ${position}`,
    ),
  ];
}
