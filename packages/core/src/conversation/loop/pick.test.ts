import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Candidate, MAX_PASSED_OVER, pickNext } from "./pick.ts";

const one = (id: string, given: Partial<Candidate> = {}): Candidate => ({
  id,
  since: "2026-01-01T00:00:00.000Z",
  steps: 0,
  passedOver: 0,
  ...given,
});

describe("pickNext", () => {
  it("takes the oldest among equals, and the one with fewer steps before an older one", () => {
    const older = one("b", { since: "2026-01-01T00:00:00.000Z" });
    const newer = one("a", { since: "2026-01-01T00:01:00.000Z" });
    expect(pickNext([newer, older], undefined)).toBe(older);
    expect(pickNext([newer, { ...older, steps: 1 }], undefined)).toBe(newer);
    expect(pickNext([], undefined)).toBeUndefined();
  });

  it("takes what was focused on, unless somebody was passed over too often", () => {
    const focused = one("f", { steps: 9 });
    const patient = one("p", { passedOver: MAX_PASSED_OVER - 1 });
    expect(pickNext([patient, focused], "f")).toBe(focused);
    const impatient = one("p", { passedOver: MAX_PASSED_OVER });
    expect(pickNext([impatient, focused], "f")).toBe(impatient);
  });

  it("starves nobody, whatever comes in between", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5), { minLength: 1, maxLength: 40 }), (steps) => {
        const waiting = steps.map((count, n) => ({ ...one(`c${String(n)}`, { steps: count + 1 }), passedOver: 0 }));
        const served = new Set<string>();
        // Each time a fresh question comes in, which would always be first.
        for (let round = 0; round < (MAX_PASSED_OVER + waiting.length) * 2; round += 1) {
          const fresh = one(`fresh-${String(round)}`);
          const picked = pickNext([...waiting, fresh], undefined);
          for (const other of waiting) other.passedOver = other === picked ? 0 : other.passedOver + 1;
          if (picked !== undefined && picked !== fresh) served.add(picked.id);
        }
        expect(served.size).toBe(waiting.length);
      }),
    );
  });
});
