import { describe, expect, it } from "vitest";
import { MAX_KEPT_PATTERNS, MAX_PATTERN_LENGTH, safePattern } from "./pattern.ts";

describe("safePattern", () => {
  it("compiles a pattern once, and keeps so many", () => {
    const first = safePattern("^a{0}$");
    for (let n = 1; n < MAX_KEPT_PATTERNS; n++) safePattern(`^a{${String(n)}}$`);
    expect(safePattern("^a{0}$")).toBe(first);
    for (let n = 0; n < MAX_KEPT_PATTERNS; n++) safePattern(`^b{${String(n)}}$`);
    expect(safePattern("^a{0}$")).not.toBe(first);
  });

  it("takes a pattern of the greatest length, and no longer one", () => {
    expect(safePattern("a".repeat(MAX_PATTERN_LENGTH)).ok).toBe(true);
    expect(safePattern("a".repeat(MAX_PATTERN_LENGTH + 1))).toMatchObject({ ok: false });
  });
});
