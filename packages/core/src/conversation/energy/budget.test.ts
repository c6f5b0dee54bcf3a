import { expect, it } from "vitest";
import { budgetOf } from "./budget.ts";

it.each([
  [undefined, 50, undefined, undefined],
  [0, 0, "depleted", false],
  [10, 0, "within", false],
  [10, 8, "within", false],
  [10, 8.1, "within", true],
  [10, 10, "exceeded", true],
  [10, 19.9, "exceeded", true],
  [10, 20, "depleted", true],
])("of a budget of %s, having spent %s, says %s (low: %s)", (energyBudget, energySpent, status, isLow) => {
  const record = { energySpent, ...(energyBudget === undefined ? {} : { energyBudget }) };
  expect(budgetOf(record)?.status).toBe(status);
  expect(budgetOf(record)?.isLow).toBe(isLow);
});
