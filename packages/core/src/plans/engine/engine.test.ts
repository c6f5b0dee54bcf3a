import { describe, expect, it } from "vitest";
import { PLAN_CASES } from "../../../testing/plans/cases.ts";
import { simulate, asReported } from "../../../testing/plans/simulated-run.ts";

describe("the engine keeps each rule of the contract", () => {
  for (const planCase of PLAN_CASES) {
    it(`${planCase.name}: ${planCase.rule}`, async () => {
      const { plan, input, initialContext, expected } = planCase;
      for (const crashes of ["none", "process", "power"] as const) {
        const run = await simulate({
          plan,
          input,
          world: asReported(planCase.world, { crashes: crashes !== "none" }),
          seed: 1,
          crashes,
          ...(initialContext === undefined ? {} : { initialContext }),
        });
        expect(run.core.status).toBe("completed");
        expect(run.context).toEqual(expected.context);
        expect(run.history.map(({ timestamp: _when, ...entry }) => entry)).toMatchObject(expected.history);
      }
    });
  }
});
