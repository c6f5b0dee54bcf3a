import { describe, expect, it } from "vitest";
import { bandOf, coverageOf, fitOf, gapsOf, readinessOf, severityOf } from "./levels.ts";

describe("levels", () => {
  it.each([
    [3, 0, 100],
    [4, 1, 75],
    [3, 2, 100 / 3],
    [5, 4, 20],
    [2, 2, 0],
    [2, 5, 0],
  ])("a role that asks for %i of someone with %i has a severity of %d", (required, have, severity) => {
    expect(severityOf(required, have)).toBeCloseTo(severity, 10);
  });

  it("puts the worst gap first, then the higher demand, then the name", () => {
    const asked = [
      { id: "a", name: "A", required: 2 },
      { id: "b", name: "B", required: 4 },
      { id: "c", name: "C", required: 4 },
      { id: "d", name: "D", required: 3 },
    ];
    expect(gapsOf(asked, { a: 2, d: 1 }).map(({ id, status }) => [id, status])).toEqual([
      ["b", "missing"],
      ["c", "missing"],
      ["d", "insufficient"],
      ["a", "met"],
    ]);
  });

  it("takes readiness as 100 less the mean severity, and has none for what asks nothing", () => {
    expect(readinessOf([{ severity: 100 }, { severity: 0 }, { severity: 50 }, { severity: 50 }])).toBe(50);
    expect(readinessOf([])).toBeNull();
  });

  it("counts what is partly there as half", () => {
    expect(coverageOf([{ status: "met" }, { status: "insufficient" }, { status: "missing" }, { status: "met" }])).toBe(
      0.625,
    );
    expect(coverageOf([])).toBeNull();
  });

  it("weighs capabilities with 60% and skills with 40%, and takes one where there is only one", () => {
    expect(fitOf(50, 100)).toBe(70);
    expect(fitOf(null, 80)).toBe(80);
    expect(fitOf(80, null)).toBe(80);
    expect(fitOf(null, null)).toBeNull();
  });

  it.each([
    [100, "ready now"],
    [90, "ready now"],
    [89.9, "nearly ready"],
    [75, "nearly ready"],
    [60, "within reach"],
    [40, "a stretch"],
    [39.9, "a long way off"],
    [0, "a long way off"],
    [null, "unknown"],
  ])("calls %s %s", (score, band) => {
    expect(bandOf(score)).toBe(band);
  });
});
