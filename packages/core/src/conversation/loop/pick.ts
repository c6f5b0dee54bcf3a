/** How long one may be passed over by others before it comes first, whatever they are. */
export const MAX_PASSED_OVER = 8;

export type Candidate = {
  readonly id: string;
  /** Since when an answer is owed; ISO, so that text order is time order. */
  readonly since: string;
  readonly steps: number;
  readonly passedOver: number;
};

/**
 * Which conversation gets effort now. What was focused on comes first, then whoever was passed over too often, then
 * those with the fewest steps behind them (a short question does not wait for a long task), the oldest first among equals.
 */
export function pickNext<T extends Candidate>(candidates: readonly T[], focused: string | undefined): T | undefined {
  let best: T | undefined;
  for (const one of candidates) if (best === undefined || isBefore(one, best, focused)) best = one;
  return best;
}

function isBefore(a: Candidate, b: Candidate, focused: string | undefined): boolean {
  const [aLate, bLate] = [overdue(a), overdue(b)];
  if (aLate !== bLate) return aLate > bLate;
  if ((a.id === focused) !== (b.id === focused)) return a.id === focused;
  if (a.steps !== b.steps) return a.steps < b.steps;
  if (a.since !== b.since) return a.since < b.since;
  return a.id < b.id;
}

/** Focus does not beat patience: else two conversations that select each other would starve the rest. */
function overdue({ passedOver }: Candidate): number {
  return passedOver >= MAX_PASSED_OVER ? passedOver : 0;
}
