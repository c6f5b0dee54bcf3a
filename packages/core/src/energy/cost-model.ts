import type { SubAgentRequest } from "../schema/hub.ts";
import { unitsForDuration } from "./units.ts";

/** What a price depends on. */
export type PricedTool = {
  readonly id: string;
  readonly energyUnits?: number;
  readonly estimatedEnergyUnits?: number;
  readonly usesAI: boolean;
};

/** Says what work will cost, and what it has cost. */
export type CostModel = {
  readonly estimateTool: (tool: PricedTool) => number;
  readonly settleTool: (tool: PricedTool, durationMs: number) => number;
  /** What a model's work of this duration costs. */
  readonly settleModel: (durationMs: number) => number;
  readonly estimateSubAgent: (type: SubAgentRequest["type"]) => number;
};

export type CostModelOptions = {
  /** What earlier calls of a tool have cost; undefined where there were none. */
  readonly usualUnits?: (toolId: string) => number | undefined;
  readonly unitsPerSecond?: number;
};

/** First guesses: half a second of a tool's own work, five seconds where a model is asked. */
const TOOL_GUESS_UNITS = 1;
const MODEL_GUESS_UNITS = 10;

/** Spec 5's ranges, by their middle; it names none for a removal, which edits the configuration as a change does. */
const SUB_AGENT_GUESS_UNITS: Readonly<Record<SubAgentRequest["type"], number>> = {
  add_server: 7.5,
  test_server: 15,
  search_servers: 35,
  modify_server: 3.5,
  remove_server: 3.5,
};

/**
 * A tool's own price where it has one, else two units a second unless the settings say otherwise. Estimates are what calls of it usually cost, where that
 * is known, then the authors' and the spec's.
 */
export function createCostModel({ usualUnits, unitsPerSecond }: CostModelOptions = {}): CostModel {
  const settle = (durationMs: number): number => unitsForDuration(durationMs, unitsPerSecond);
  return {
    estimateTool: ({ id, energyUnits, estimatedEnergyUnits, usesAI }) =>
      energyUnits ?? usualUnits?.(id) ?? estimatedEnergyUnits ?? (usesAI ? MODEL_GUESS_UNITS : TOOL_GUESS_UNITS),
    settleTool: ({ energyUnits }, durationMs) => energyUnits ?? settle(durationMs),
    settleModel: settle,
    estimateSubAgent: (type) => SUB_AGENT_GUESS_UNITS[type],
  };
}
