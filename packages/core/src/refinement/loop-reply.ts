import type { LoopSummary } from "../ports/loop-store.ts";
import type { LoopReply } from "../schema/refinement.ts";
import type { Decision } from "./decide.ts";
import type { LoopBounds } from "./loop-bounds.ts";

/** What a caller is told of a loop. After a decision the message says why, and what to do. */
export function loopReply(loop: LoopSummary, bounds: LoopBounds, why?: Decision["why"]): LoopReply {
  const { id, status, current_score, iteration } = loop;
  const message = why === undefined ? statusMessage(loop, bounds) : decisionMessage(loop, bounds, why);
  return { id, status, ...(current_score === null ? {} : { score: current_score }), iteration, message };
}

function decisionMessage(
  { current_score, iteration }: LoopSummary,
  { threshold, maxIterations }: LoopBounds,
  why: Decision["why"],
): string {
  switch (why) {
    case "good_enough":
      return `Score ${current_score} reaches ${threshold}: done.`;
    case "not_good_enough":
      return `Score ${current_score} is below ${threshold}: refine and score again (refinement ${iteration} of at most ${maxIterations}).`;
    case "too_many_iterations":
      return `Score ${current_score} is below ${threshold} after ${iteration} refinements, the most allowed: ask the user how to go on.`;
    case "stagnant":
      return `Score ${current_score} is below ${threshold}, and the last two improvements were under 5 points: ask the user how to go on.`;
  }
}

function statusMessage(
  { loop_type, status, current_score, iteration }: LoopSummary,
  { threshold, maxIterations }: LoopBounds,
): string {
  if (current_score === null) return `A ${loop_type} loop: score it; ${threshold} completes it.`;
  return `A ${loop_type} loop, ${status}: score ${current_score} of ${threshold}, ${iteration} of at most ${maxIterations} refinements.`;
}
