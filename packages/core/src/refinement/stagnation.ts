import type { Score } from "../schema/refinement.ts";

/** An improvement under this many points is none; a decline is one under it. */
const LEAST_IMPROVEMENT = 5;

/** Whether the last two improvements were both too small; it takes three scores to tell. The newest score is last. */
export function isStagnant(scores: readonly Score[]): boolean {
  const [before, between, newest] = scores.slice(-3);
  if (before === undefined || between === undefined || newest === undefined) return false;
  return between - before < LEAST_IMPROVEMENT && newest - between < LEAST_IMPROVEMENT;
}
