import type { EnergyRegulator } from "../energy/regulator.ts";
import type { PauseMode, SubAgent } from "../hub/sub-agent.ts";
import type { Json } from "../schema/json.ts";
import { createSubAgentNews } from "./sub-agent-news.ts";

export type LoopEnergy = {
  /** Below this the sub-agent pauses; from `resumeAt` on it goes on. */
  readonly pauseAt: number;
  readonly resumeAt: number;
  readonly whenLow: PauseMode;
};

export const DEFAULT_LOOP_ENERGY: LoopEnergy = { pauseAt: 10, resumeAt: 20, whenLow: "pause" };

export type SubAgentLead = {
  /**
   * Takes in what it spent and what it tells, and pauses it or lets it go on by the level of the pool. True when it had
   * spent something: it does not tell that again.
   */
  readonly drain: () => boolean;
  /** What it told of this principal's requests, newest first. */
  readonly newsFor: (owner: string) => readonly Json[];
};

/** The loop's side of the sub-agent, which knows nothing of energy itself. */
export function createSubAgentLead(deps: {
  readonly subAgent: SubAgent | undefined;
  readonly regulator: EnergyRegulator;
  readonly energy: LoopEnergy | undefined;
}): SubAgentLead {
  const { subAgent, regulator } = deps;
  const { pauseAt, resumeAt, whenLow } = deps.energy ?? DEFAULT_LOOP_ENERGY;
  const news = createSubAgentNews();
  let isPaused = false;
  return {
    newsFor: news.of,
    drain: () => {
      if (subAgent === undefined) return false;
      const units = subAgent.getSubAgentEnergyConsumption();
      if (units > 0) regulator.consumeEnergy(units, { cause: "subagent" });
      news.add(subAgent.pollMessages());
      const level = regulator.getEnergy();
      if (!isPaused && level < pauseAt) {
        isPaused = true;
        subAgent.pause(whenLow);
      } else if (isPaused && level >= resumeAt) {
        isPaused = false;
        subAgent.resume();
      }
      return units > 0;
    },
  };
}
