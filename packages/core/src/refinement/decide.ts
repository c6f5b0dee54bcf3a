import type { LoopSoFar } from "../ports/loop-store.ts";
import type { Score } from "../schema/refinement.ts";
import type { LoopBounds } from "./loop-bounds.ts";
import { isStagnant } from "./stagnation.ts";

export type Decision = {
  readonly status: "completed" | "refine" | "user_input";
  readonly why: "good_enough" | "too_many_iterations" | "stagnant" | "not_good_enough";
  readonly iteration: number;
};

/**
 * What follows from a new score, in the spec's order: threshold, iteration limit, stagnation, refine. The status that
 * the loop had does not count: a loop that was completed, or waits for a person, is decided anew.
 */
export function decide(
  { iteration, recent_scores }: Pick<LoopSoFar, "iteration" | "recent_scores">,
  score: Score,
  { threshold, maxIterations }: LoopBounds,
): Decision {
  if (score >= threshold) return { status: "completed", why: "good_enough", iteration };
  if (iteration >= maxIterations) return { status: "user_input", why: "too_many_iterations", iteration };
  if (isStagnant([...recent_scores, score])) return { status: "user_input", why: "stagnant", iteration };
  return { status: "refine", why: "not_good_enough", iteration: iteration + 1 };
}
