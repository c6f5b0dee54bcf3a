import { describe, expect, it } from "vitest";
import { createCostModel } from "./cost-model.ts";

const costs = createCostModel();

describe("the cost model", () => {
  it("charges two units a second, or the tool's own price", () => {
    expect(costs.settleTool({ id: "a", usesAI: false }, 1_500)).toBe(3);
    expect(costs.settleTool({ id: "a", usesAI: false, energyUnits: 7 }, 1_500)).toBe(7);
    expect(costs.settleTool({ id: "a", usesAI: false }, -5)).toBe(0);
    expect(costs.settleTool({ id: "a", usesAI: false }, 0.000_1)).toBe(0);
  });

  it("guesses by price, then by the author's word, then by kind", () => {
    expect(costs.estimateTool({ id: "a", usesAI: true, energyUnits: 7, estimatedEnergyUnits: 3 })).toBe(7);
    expect(costs.estimateTool({ id: "a", usesAI: true, estimatedEnergyUnits: 3 })).toBe(3);
    expect(costs.estimateTool({ id: "a", usesAI: true })).toBeGreaterThan(
      costs.estimateTool({ id: "a", usesAI: false }),
    );
  });

  it("guesses sub-agent work within the spec's ranges", () => {
    const ranges = {
      add_server: [5, 10],
      test_server: [10, 20],
      search_servers: [20, 50],
      modify_server: [2, 5],
    } as const;
    for (const [type, [low, high]] of Object.entries(ranges)) {
      const guess = costs.estimateSubAgent(type as keyof typeof ranges);
      expect(guess).toBeGreaterThanOrEqual(low);
      expect(guess).toBeLessThanOrEqual(high);
    }
  });
});
