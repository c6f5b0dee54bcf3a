import { unitsForDuration } from "@ergon/core/engine";
import type { SubAgentRequest } from "@ergon/core/hub";

/** Spec 5's range of what each kind of work costs; it names none for a removal, which edits the configuration as a change does. */
const ENERGY_RANGES: Readonly<Record<SubAgentRequest["type"], readonly [least: number, most: number]>> = {
  add_server: [5, 10],
  test_server: [10, 20],
  search_servers: [20, 50],
  modify_server: [2, 5],
  remove_server: [2, 5],
};

export type Meter = {
  /** Units so far: two a second of work, up to the most that this kind may cost. */
  readonly reading: () => number;
  readonly pause: () => void;
  readonly resume: () => void;
  /** Ends it: what was read once the work is over is what is charged, however long its end takes to be written. */
  readonly end: () => number;
  /** The same when it succeeded: no less than the least. */
  readonly final: () => number;
};

export function createMeter(type: SubAgentRequest["type"], now: () => number, alreadyUnits: number): Meter {
  const [least, most] = ENERGY_RANGES[type];
  let workedMs = 0;
  let since: number | undefined = now();
  const elapsed = (): number => workedMs + (since === undefined ? 0 : now() - since);
  const reading = (): number => Math.min(most, alreadyUnits + unitsForDuration(elapsed()));
  const pause = (): void => {
    workedMs = elapsed();
    since = undefined;
  };
  const end = (): number => {
    pause();
    return reading();
  };
  return {
    reading,
    pause,
    resume: () => {
      since ??= now();
    },
    end,
    final: () => Math.max(least, end()),
  };
}
