import { describe, expect, it } from "vitest";
import { MAX_KEPT_PATTERNS, MAX_PATTERN_LENGTH, safePattern } from "./pattern.ts";

describe("safePattern", () => {
  it("compiles a pattern once, and keeps so many", () => {
    // Others have been kept before in this process: once they are dropped, two are kept, the last of these and ours.
    const dropped = safePattern("^a$");
    let first = dropped;
    for (let n = 0; first === dropped && n < MAX_KEPT_PATTERNS; n++) {
      safePattern(`^b{${String(n)}}$`);
      first = safePattern("^a$");
    }
    expect(first).not.toBe(dropped);
    for (let n = 2; n < MAX_KEPT_PATTERNS; n++) safePattern(`^c{${String(n)}}$`);
    expect(safePattern("^a$")).toBe(first);
    safePattern("^d$");
    expect(safePattern("^a$")).not.toBe(first);
  });

  it("takes a pattern of the greatest length, and no longer one", () => {
    expect(safePattern("a".repeat(MAX_PATTERN_LENGTH)).ok).toBe(true);
    expect(safePattern("a".repeat(MAX_PATTERN_LENGTH + 1))).toMatchObject({ ok: false });
  });
});
