import type { BudgetStatus, ConversationRecord } from "../../schema/conversation.ts";

/** Twice the budget is where patience ends. */
const DEPLETED_FACTOR = 2;
const LOW_SHARE = 0.2;

export type Budget = {
  readonly status: BudgetStatus;
  readonly units: number;
  readonly left: number;
  /** Less than a fifth is left. */
  readonly isLow: boolean;
};

/**
 * A budget is soft: a conversation may exceed it to come to an end. Depleted (twice spent, or 0 from the start) means one
 * last chance to answer. Undefined where there is none.
 */
export function budgetOf({
  energyBudget: units,
  energySpent,
}: Pick<ConversationRecord, "energyBudget" | "energySpent">): Budget | undefined {
  if (units === undefined) return undefined;
  const left = units - energySpent;
  const depleted = energySpent >= units * DEPLETED_FACTOR;
  const status = depleted ? "depleted" : left <= 0 ? "exceeded" : "within";
  return { status, units, left, isLow: left < units * LOW_SHARE };
}
