/** No validation takes more steps: a schema can ask for exponential work with few bytes. */
const MAX_VALIDATION_STEPS = 10_000_000;
const MIN_VALIDATION_STEPS = 1_000_000;
const STEPS_PER_VALUE = 50;
/** Beyond this many steps the first problem is reported alone: a list of a million problems helps nobody. */
export const MAX_STEPS_FOR_ALL_ISSUES = 200_000;

export type StepBudget = {
  /** Called from within compiled validators; throws `StepsExhausted`. */
  readonly step: (weight: number) => void;
  readonly reset: (limit: number) => void;
};

export class StepsExhausted extends Error {
  override readonly name = "StepsExhausted";
}

export function createStepBudget(): StepBudget {
  let left = 0;
  return {
    step(weight) {
      left -= weight;
      if (left < 0) throw new StepsExhausted("too many validation steps");
    },
    reset(limit) {
      left = limit;
    },
  };
}

/** What an honest schema may need for a value of this size. */
export function stepsFor(value: unknown): number {
  let allowed = MIN_VALIDATION_STEPS;
  const stack: unknown[] = [value];
  while (stack.length > 0 && allowed < MAX_VALIDATION_STEPS) {
    const next = stack.pop();
    allowed += STEPS_PER_VALUE;
    if (typeof next === "object" && next !== null) {
      for (const child of Object.values(next)) stack.push(child);
    }
  }
  return Math.min(allowed, MAX_VALIDATION_STEPS);
}
