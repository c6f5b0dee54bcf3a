import { type Clock, type Logger, toErgonError } from "@ergon/core";
import type { NewEvent } from "@ergon/core/schema";
import { createLoopIds, isoTime } from "@ergon/core/store-kit";
import { createRefinementLoops, type LoopDecided, type RefinementLoops } from "@ergon/core/engine";
import type { SettingValues } from "@ergon/node";
import { loopBoundsOf } from "./loop-bounds.ts";
import type { OpenedData } from "../workspace/opened-data.ts";

export type LoopParts = {
  readonly data: Pick<Extract<OpenedData, { kind: "opened" }>, "loops" | "state">;
  readonly values: SettingValues;
  readonly clock: Clock;
  readonly logger: Logger;
};

export type KeptLoops = {
  readonly loops: RefinementLoops;
  /** Tells now what has not been told yet: for the end. */
  readonly tellAll: () => void;
};

/** Decisions are told together, those of this long; a crash loses the telling, never the decision. */
const TELL_AFTER_MS = 50;
const MAX_UNTOLD = 500;
const IN_MEMORY = "Loops are kept in memory and end with their process; ERGON_LOOP_STORE=sqlite keeps them.";

/** The refinement loops of a folder that we own. Every decision is an event; nobody waits for that to be written. */
export function keepLoops({ data, values, clock, logger }: LoopParts): KeptLoops {
  const untold = new Map<string, NewEvent[]>();
  let count = 0;
  let stopWaiting: (() => void) | undefined;

  const tellAll = (): void => {
    stopWaiting?.();
    stopWaiting = undefined;
    count = 0;
    for (const [owner, events] of untold) {
      data.state.commit({ sessionId: "", owner, events }).catch((thrown: unknown) => {
        logger.warn({ error: toErgonError(thrown, "store_unavailable").toJSON() }, "Decisions were not told.");
      });
    }
    untold.clear();
  };
  const tell = ({ owner, id: loopId, ...decided }: LoopDecided): void => {
    const event = { type: "loop-decided", at: isoTime(clock), data: { loopId, ...decided } } as const;
    const events = untold.get(owner);
    if (events === undefined) untold.set(owner, [event]);
    else events.push(event);
    count += 1;
    if (count >= MAX_UNTOLD) tellAll();
    else stopWaiting ??= clock.after(TELL_AFTER_MS, tellAll);
  };
  const bounds = loopBoundsOf(values);
  const where = values.loopStore === "memory" ? { where: IN_MEMORY } : {};
  const newId = createLoopIds();
  const loops = createRefinementLoops({ store: data.loops, clock, newId, bounds, ...where, onDecided: tell });
  return { loops, tellAll };
}
