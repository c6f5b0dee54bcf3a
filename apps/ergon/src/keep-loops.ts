import {
  type Clock,
  createLoopIds,
  createRefinementLoops,
  isoTime,
  type Logger,
  type LoopDecided,
  type RefinementLoops,
  toErgonError,
} from "@ergon/core";
import type { SettingValues } from "@ergon/node";
import { loopBoundsOf } from "./loop-bounds.ts";
import type { OpenedData } from "./open-data.ts";

export type LoopParts = {
  readonly data: Pick<Extract<OpenedData, { kind: "opened" }>, "loops" | "state">;
  readonly values: SettingValues;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** The refinement loops of a folder that we own. Every decision is an event; nobody waits for that to be written. */
export function keepLoops({ data, values, clock, logger }: LoopParts): RefinementLoops {
  const tell = ({ owner, id: loopId, ...decided }: LoopDecided): void => {
    const event = { type: "loop-decided", at: isoTime(clock), data: { loopId, ...decided } } as const;
    data.state.commit({ sessionId: "", owner, events: [event] }).catch((thrown: unknown) => {
      logger.warn({ loopId, error: toErgonError(thrown, "store_unavailable").toJSON() }, "A decision was not told.");
    });
  };
  return createRefinementLoops({
    store: data.loops,
    clock,
    newId: createLoopIds(),
    bounds: loopBoundsOf(values),
    onDecided: tell,
  });
}
