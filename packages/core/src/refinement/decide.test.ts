import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LoopType, type Score } from "../schema/refinement.ts";
import { decide } from "./decide.ts";
import { DEFAULT_LOOP_BOUNDS, type LoopBounds } from "./loop-bounds.ts";
import { isStagnant } from "./stagnation.ts";

describe("deciding", () => {
  it.each([
    ["plan", 85],
    ["spec", 85],
    ["build_plan", 80],
    ["build_code", 95],
  ] as const)("completes a %s loop at %i and refines it one below", (type, threshold) => {
    const fresh = { iteration: 0, recent_scores: [] };
    expect(decide(fresh, threshold, DEFAULT_LOOP_BOUNDS[type]).status).toBe("completed");
    expect(decide(fresh, threshold - 1, DEFAULT_LOOP_BOUNDS[type]).status).toBe("refine");
  });

  it("asks the user after as many refinements as are allowed, however much better it gets", () => {
    expect(run([10, 20, 30, 40, 50, 60]).map(({ status }) => status)).toEqual([
      ...Array<string>(5).fill("refine"),
      "user_input",
    ]);
  });

  it("has the spec's sample state: three refined scores give iteration 3", () => {
    expect(run([45, 62, 72])).toEqual([
      { status: "refine", why: "not_good_enough", iteration: 1 },
      { status: "refine", why: "not_good_enough", iteration: 2 },
      { status: "refine", why: "not_good_enough", iteration: 3 },
    ]);
  });

  it("looks at the threshold first, then at the limit, then at stagnation", () => {
    const stuck = { iteration: 5, recent_scores: [70, 70] };
    const bounds = { threshold: 85, maxIterations: 5 };
    expect(decide(stuck, 85, bounds).why).toBe("good_enough");
    expect(decide(stuck, 70, bounds).why).toBe("too_many_iterations");
    expect(decide({ ...stuck, iteration: 4 }, 70, bounds).why).toBe("stagnant");
  });

  it("decides as a reference written from the spec's text does, whatever the scores", () => {
    const Bounds = fc.record({
      threshold: fc.integer({ min: 1, max: 100 }),
      maxIterations: fc.integer({ min: 1, max: 20 }),
    });
    // Near each other, so that stagnation is common.
    const Near = fc.array(fc.integer({ min: 40, max: 60 }), { maxLength: 30 });
    const Any = fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 30 });
    fc.assert(
      fc.property(Bounds, fc.oneof(Near, Any), (bounds, scores) => {
        const reference = new ReferenceLoop(bounds);
        const expected = scores.map((score) => reference.decide_loop_next_action(score));
        expect(run(scores, bounds).map(({ status, iteration }) => [status, iteration])).toEqual(expected);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("stagnation", () => {
  it("is what the spec's own test says", () => {
    expect(isStagnant([50, 65, 70])).toBe(false);
    expect(isStagnant([50, 65, 70, 73, 75])).toBe(true);
  });

  it("takes three scores, two small improvements, and counts a decline as one", () => {
    expect(isStagnant([])).toBe(false);
    expect(isStagnant([50, 50])).toBe(false);
    expect(isStagnant([50, 54, 58])).toBe(true);
    expect(isStagnant([50, 55, 59])).toBe(false);
    expect(isStagnant([50, 54, 59])).toBe(false);
    expect(isStagnant([50, 30, 10])).toBe(true);
    expect(isStagnant([50, 10, 60])).toBe(false);
  });
});

it("has bounds for every type", () => {
  expect(Object.keys(DEFAULT_LOOP_BOUNDS)).toEqual(LoopType.options);
});

function run(scores: readonly Score[], bounds: LoopBounds = DEFAULT_LOOP_BOUNDS.plan) {
  let iteration = 0;
  return scores.map((score, at) => {
    const decision = decide({ iteration, recent_scores: scores.slice(Math.max(0, at - 2), at) }, score, bounds);
    ({ iteration } = decision);
    return decision;
  });
}

/** Line for line what the spec writes in Python, with the score appended first. */
class ReferenceLoop {
  status = "initialized";
  iteration = 0;
  current_score = 0;
  readonly score_history: number[] = [];
  readonly bounds: LoopBounds;
  constructor(bounds: LoopBounds) {
    this.bounds = bounds;
  }

  decide_loop_next_action(score: number): [string, number] {
    this.current_score = score;
    this.score_history.push(score);
    this.decide_next_loop_action();
    return [this.status, this.iteration];
  }

  private decide_next_loop_action(): void {
    // 1. Check quality threshold
    if (this.current_score >= this.bounds.threshold) {
      this.status = "completed";
      return;
    }
    // 2. Check iteration limit
    if (this.iteration >= this.bounds.maxIterations) {
      this.status = "user_input";
      return;
    }
    // 3. Check stagnation
    if (this.detect_stagnation()) {
      this.status = "user_input";
      return;
    }
    // 4. Continue refinement
    this.status = "refine";
    this.iteration += 1;
  }

  private detect_stagnation(): boolean {
    // Need at least 3 scores for comparison
    if (this.score_history.length < 3) return false;
    // Check last 2 improvements
    const improvement_threshold = 5;
    const recent_improvements = [this.calculate_improvement(2), this.calculate_improvement(1)];
    // Stagnant if both improvements < 5 points
    return recent_improvements.every((improvement) => improvement < improvement_threshold);
  }

  private calculate_improvement(iterations_ago: number): number {
    const at = this.score_history.length - iterations_ago;
    return (this.score_history[at] ?? Number.NaN) - (this.score_history[at - 1] ?? Number.NaN);
  }
}
