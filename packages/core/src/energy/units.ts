/*
 * Energy is counted in whole millionths of a unit: sums of those are exact, sums of fractions are not, and a ledger
 * that is off by a rounding error explains nothing.
 */
const MICRO = 1_000_000;

/** Spec 5: what a second of model, tool or sub-agent work costs. */
export const UNITS_PER_SECOND = 2;

export function toMicro(units: number): number {
  return Math.round(units * MICRO);
}

export function fromMicro(micro: number): number {
  return micro / MICRO;
}

/** What work of this duration costs, to the millionth. */
export function unitsForDuration(durationMs: number, unitsPerSecond: number = UNITS_PER_SECOND): number {
  if (!(durationMs > 0)) return 0;
  return fromMicro(toMicro((durationMs / 1000) * unitsPerSecond));
}
