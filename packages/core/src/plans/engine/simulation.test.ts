import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryPlan } from "../../../testing/plans/random-plan.ts";
import { runReference } from "../../../testing/plans/reference.ts";
import { simulate, TOOL_EFFECTS, asReported, type SimulatedRun } from "../../../testing/plans/simulated-run.ts";
import { seededWorld } from "../../../testing/plans/world.ts";
import { longRuns } from "../../../testing/long-runs.ts";

const PLANS_WITHOUT_CRASHES = 10_000;
const PLANS_WITH_CRASHES = 2_000;
const MIN_CRASHES = 50_000;

describe("random plans on the real engine", () => {
  it(
    "agree with the reference, whatever the order in which calls end",
    async () => {
      await fc.assert(
        fc.asyncProperty(arbitraryPlan(), fc.nat(), async ({ plan, input }, seed) => {
          const world = asReported(seededWorld(seed), { crashes: false });
          compare(await simulate({ plan, input, world, seed, crashes: false }), runReference(plan, input, world));
        }),
        { numRuns: longRuns(PLANS_WITHOUT_CRASHES), endOnFailure: true },
      );
    },
    longRuns(600_000),
  );

  it(
    "come to the same when the process dies before and after every commit",
    async () => {
      let crashes = 0;
      await fc.assert(
        fc.asyncProperty(arbitraryPlan(), fc.nat(), async ({ plan, input }, seed) => {
          const world = asReported(seededWorld(seed), { crashes: true });
          const run = await simulate({ plan, input, world, seed, crashes: true });
          crashes += run.crashes;
          compare(run, runReference(plan, input, world));
          const once = [...run.calls.values()].filter(({ toolId }) => TOOL_EFFECTS[toolId] === "once");
          expect(once.every(({ count }) => count === 1)).toBe(true);
        }),
        { numRuns: longRuns(PLANS_WITH_CRASHES), endOnFailure: true },
      );
      expect(crashes).toBeGreaterThanOrEqual(longRuns(MIN_CRASHES));
    },
    longRuns(600_000),
  );
});

function compare(run: SimulatedRun, reference: ReturnType<typeof runReference>): void {
  expect(run.core.status).toBe("completed");
  expect(run.context).toEqual(reference.context);
  // A forgotten call that a person vouched for leaves its unknown row behind; everything else reads the same.
  const history = run.history.filter(({ result }) => !("error" in result && result.error.code === "outcome_unknown"));
  expect(history.map(({ toolId, result, planStepId }) => ({ toolId, result, planStepId }))).toEqual(
    reference.history.map(({ toolId, result, planStepId }) => ({ toolId, result, planStepId })),
  );
}
