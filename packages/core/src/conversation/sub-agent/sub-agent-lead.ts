import type { EnergyRegulator } from "../../energy/regulator.ts";
import type { PauseMode, SubAgent } from "../../hub/sub-agent.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { Json } from "../../schema/values/json.ts";
import { additionNews } from "./addition-news.ts";
import { createDiscovery, type Discovery, type Finding } from "./discovery.ts";
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
  /** How long until there is energy for it again; undefined when it is not paused, or nothing comes back by itself. */
  readonly resumesInMs: () => number | undefined;
  /** What it told of this principal's requests, newest first. */
  readonly newsFor: (owner: string) => readonly Json[];
  readonly discovery: Pick<Discovery, "isOn" | "search">;
};

/** The loop's side of the sub-agent, which knows nothing of energy itself. */
export function createSubAgentLead(deps: {
  readonly subAgent: SubAgent | undefined;
  readonly regulator: EnergyRegulator;
  readonly energy: LoopEnergy | undefined;
  readonly mayDiscover: (() => boolean) | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onFinding: (finding: Finding) => void;
}): SubAgentLead {
  const { subAgent, regulator } = deps;
  const { pauseAt, resumeAt, whenLow } = deps.energy ?? DEFAULT_LOOP_ENERGY;
  const news = createSubAgentNews();
  const discovery = createDiscovery(deps);
  let isPaused = false;
  return {
    newsFor: news.of,
    resumesInMs: () => {
      const { level, reserved, replenishPerSecond } = regulator.state();
      if (!isPaused || reserved > 0 || replenishPerSecond === 0) return undefined;
      return Math.max(0, ((resumeAt - level) / replenishPerSecond) * 1_000);
    },
    discovery,
    drain: () => {
      if (subAgent === undefined) return false;
      const units = subAgent.getSubAgentEnergyConsumption();
      if (units > 0) regulator.consumeEnergy(units, { cause: "subagent" });
      const messages = subAgent.pollMessages();
      news.add(messages);
      for (const message of messages) {
        const finding = discovery.finding(message) ?? additionNews(message);
        if (finding !== undefined) deps.onFinding(finding);
      }
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
