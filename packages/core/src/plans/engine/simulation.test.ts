import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SessionView } from "../../ports/engine.ts";
import { arbitraryPlan } from "../../../testing/plans/random-plan.ts";
import { runReference } from "../../../testing/plans/reference.ts";
import {
  simulate,
  TOOL_EFFECTS,
  asReported,
  byPosition,
  type SimulatedRun,
} from "../../../testing/plans/simulated-run.ts";
import { seededWorld } from "../../../testing/plans/world.ts";
import { longRuns, sampleRuns } from "../../../testing/long-runs.ts";

const PLANS_WITHOUT_CRASHES = 4_000;
const PLANS_WITH_CRASHES = 1_000;
const PLANS_FORKED = 300;
const MIN_CRASHES = 25_000;
const PLANS_WITH_POWER_LOSS = 300;
const PLANS_WITH_APPROVALS = 300;
const PLANS_DRAINED = 300;
const PLANS_AHEAD = 1_200;
const SINGLE_CALLS = 400;
/** Commits that end more than one step; so many plans that the smallest sample does not fall short of it by chance. */
const MIN_GATHERED = 300;

describe("random plans on the real engine", () => {
  it(
    "agree with the reference, whatever the order in which calls end",
    async () => {
      await fc.assert(
        fc.asyncProperty(arbitraryPlan(), fc.nat(), async ({ plan, input }, seed) => {
          const world = asReported(seededWorld(seed), { crashes: false });
          compare(await simulate({ plan, input, world, seed, crashes: "none" }), runReference(plan, input, world));
        }),
        { numRuns: sampleRuns(PLANS_WITHOUT_CRASHES), endOnFailure: true },
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
          const run = await simulate({ plan, input, world, seed, crashes: "process" });
          crashes += run.crashes;
          compare(run, runReference(plan, input, world));
          expect(onceCalls(run).every(({ count }) => count === 1)).toBe(true);
        }),
        { numRuns: sampleRuns(PLANS_WITH_CRASHES), endOnFailure: true },
      );
      expect(crashes).toBeGreaterThanOrEqual(sampleRuns(MIN_CRASHES));
    },
    longRuns(600_000),
  );

  it(
    "come to the same when the process dies while they are ahead of a slow store (E1)",
    async () => {
      let gathered = 0;
      let crashes = 0;
      await fc.assert(
        fc.asyncProperty(arbitraryPlan(), fc.nat(), async ({ plan, input }, seed) => {
          const world = byPosition(seededWorld(seed));
          const run = await simulate({ plan, input, world, seed, crashes: "power", slowStore: true });
          gathered += run.gathered;
          crashes += run.crashes;
          compare(run, runReference(plan, input, world));
          expect(onceCalls(run).every(({ count }) => count === 1)).toBe(true);
        }),
        { numRuns: sampleRuns(PLANS_AHEAD), endOnFailure: true },
      );
      expect(crashes).toBeGreaterThanOrEqual(sampleRuns(PLANS_AHEAD));
      expect(gathered).toBeGreaterThanOrEqual(sampleRuns(MIN_GATHERED));
    },
    longRuns(600_000),
  );

  it(
    "come to the same when they are forked from any step that they reached",
    async () => {
      let forks = 0;
      await fc.assert(
        fc.asyncProperty(arbitraryPlan(), fc.nat(), fc.boolean(), async ({ plan, input }, seed, crashes) => {
          const world = asReported(seededWorld(seed), { crashes });
          const run = await simulate({ plan, input, world, seed, crashes: crashes ? "process" : "none", forks: true });
          const reference = runReference(plan, input, world);
          compare(run, reference);
          expect(run.forks.has(plan.startStepId)).toBe(true);
          for (const fork of run.forks.values()) compare(fork, reference);
          forks += run.forks.size;
        }),
        { numRuns: sampleRuns(PLANS_FORKED), endOnFailure: true },
      );
      expect(forks).toBeGreaterThanOrEqual(sampleRuns(PLANS_FORKED));
    },
    longRuns(600_000),
  );

  it(
    "come to the same when a person must approve their calls, whenever the process dies, and ask about each call once",
    async () => {
      let crashes = 0;
      let questions = 0;
      await fc.assert(
        fc.asyncProperty(arbitraryPlan(), fc.nat(), fc.boolean(), async ({ plan, input }, seed, power) => {
          const world = asReported(seededWorld(seed), { crashes: true });
          const run = await simulate({
            plan,
            input,
            world,
            seed,
            crashes: power ? "power" : "process",
            approvals: true,
          });
          crashes += run.crashes;
          questions += run.questions;
          compare(run, runReference(plan, input, world));
          expect(onceCalls(run).every(({ count }) => count === 1)).toBe(true);
          const asked = run.history.filter(({ toolId }) => TOOL_EFFECTS[toolId] !== "pure");
          expect(run.questions).toBe(asked.length);
        }),
        { numRuns: sampleRuns(PLANS_WITH_APPROVALS), endOnFailure: true },
      );
      expect(crashes).toBeGreaterThanOrEqual(sampleRuns(PLANS_WITH_APPROVALS));
      expect(questions).toBeGreaterThanOrEqual(sampleRuns(PLANS_WITH_APPROVALS));
    },
    longRuns(600_000),
  );

  it(
    "come to the same when the process is asked to go now and then, and begin no call once it is",
    async () => {
      let drains = 0;
      await fc.assert(
        fc.asyncProperty(arbitraryPlan(), fc.nat(), fc.boolean(), async ({ plan, input }, seed, approvals) => {
          const world = asReported(seededWorld(seed), { crashes: true });
          const run = await simulate({ plan, input, world, seed, crashes: "drain", approvals });
          drains += run.crashes;
          compare(run, runReference(plan, input, world));
          expect(onceCalls(run).every(({ count }) => count === 1)).toBe(true);
        }),
        { numRuns: sampleRuns(PLANS_DRAINED), endOnFailure: true },
      );
      expect(drains).toBeGreaterThanOrEqual(sampleRuns(PLANS_DRAINED));
    },
    longRuns(600_000),
  );

  it(
    "come to the same when power is lost now and then, and forget nothing that was acknowledged (E3, E6)",
    async () => {
      let crashes = 0;
      await fc.assert(
        fc.asyncProperty(arbitraryPlan(), fc.nat(), async ({ plan, input }, seed) => {
          const world = asReported(seededWorld(seed), { crashes: true });
          const run = await simulate({ plan, input, world, seed, crashes: "power" });
          crashes += run.crashes;
          compare(run, runReference(plan, input, world));
          expect(onceCalls(run).every(({ count }) => count === 1)).toBe(true);
        }),
        { numRuns: sampleRuns(PLANS_WITH_POWER_LOSS), endOnFailure: true },
      );
      expect(crashes).toBeGreaterThanOrEqual(sampleRuns(PLANS_WITH_POWER_LOSS));
    },
    longRuns(600_000),
  );
});

describe("random single calls on the real engine", () => {
  const calls = fc.record({
    toolId: fc.constantFrom(...Object.keys(TOOL_EFFECTS)),
    args: fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.oneof(fc.string(), fc.integer(), fc.boolean())),
    approvals: fc.boolean(),
    seed: fc.nat(),
  });

  it.each(["none", "process", "power", "drain"] as const)(
    "come to the same as a plan of that one step, whenever the process dies (%s), and are made once where they must be",
    async (crashes) => {
      let deaths = 0;
      await fc.assert(
        fc.asyncProperty(calls, async ({ toolId, args, approvals, seed }) => {
          const world = byPosition(seededWorld(seed));
          const step = { id: "call", type: "tool_call", toolId, arguments: args, onError: "fail" } as const;
          const description = "Calls a tool.";
          const plan = { planId: "call", description, parameters: {}, startStepId: "call", steps: [step] };
          const run = await simulate({ plan, call: { toolId, args }, input: {}, world, seed, crashes, approvals });
          deaths += run.crashes;
          compare(run, runReference(plan, {}, world));
          expect(onceCalls(run).every(({ count }) => count === 1)).toBe(true);
          expect(run.questions).toBe(approvals && TOOL_EFFECTS[toolId] !== "pure" ? 1 : 0);
        }),
        { numRuns: sampleRuns(SINGLE_CALLS), endOnFailure: true },
      );
      if (crashes === "process") expect(deaths).toBeGreaterThanOrEqual(2 * sampleRuns(SINGLE_CALLS));
    },
    longRuns(600_000),
  );
});

function onceCalls({ calls }: SimulatedRun): { readonly count: number }[] {
  return [...calls.values()].filter(({ toolId }) => TOOL_EFFECTS[toolId] === "once");
}

function compare(run: SessionView, reference: ReturnType<typeof runReference>): void {
  expect(run.core.status).toBe("completed");
  expect(run.context).toEqual(reference.context);
  // A forgotten call that a person vouched for leaves its unknown row behind; everything else reads the same.
  const history = run.history.filter(({ result }) => !("error" in result && result.error.code === "outcome_unknown"));
  expect(history.map(({ toolId, result, planStepId }) => ({ toolId, result, planStepId }))).toEqual(
    reference.history.map(({ toolId, result, planStepId }) => ({ toolId, result, planStepId })),
  );
}
