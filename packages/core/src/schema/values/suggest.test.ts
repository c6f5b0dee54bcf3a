import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_SUGGEST_CANDIDATES, didYouMean, editDistance, suggest } from "./suggest.ts";

describe("suggest", () => {
  it("finds the word that was meant", () => {
    expect(suggest("serach", ["search", "respond"])).toBe("search");
    expect(suggest("GetCapabilityGap", ["getCapabilityGaps", "getDevelopmentPlan"])).toBe("getCapabilityGaps");
  });

  it("finds a tool by its name without the domain", () => {
    expect(suggest("load_datset", ["quick-data::load_dataset", "quick-data::list_datasets"])).toBe(
      "quick-data::load_dataset",
    );
  });

  it("prefers the whole id over the name without the domain", () => {
    expect(suggest("greet", ["demo::greet", "greet"])).toBe("greet");
  });

  it("is silent when nothing is near", () => {
    expect(suggest("weather", ["search", "respond"])).toBeUndefined();
    expect(suggest("", ["a"])).toBeUndefined();
    expect(didYouMean("weather", ["search"])).toBe("");
  });

  it("looks at a bounded number of candidates", () => {
    const many = Array.from({ length: MAX_SUGGEST_CANDIDATES }, (_, i) => `zzzz${String(i)}`);
    expect(suggest("search", [...many.slice(1), "search"])).toBe("search");
    expect(suggest("search", [...many, "search"])).toBeUndefined();
  });
});

describe("editDistance", () => {
  it("counts a swap of neighbours as one edit", () => {
    expect(editDistance("ab", "ba", 10)).toBe(1);
    expect(editDistance("kitten", "sitting", 10)).toBe(3);
  });

  it("is symmetric, zero only for equal words, and never above its limit", () => {
    const word = fc.string({ maxLength: 12 });
    fc.assert(
      fc.property(word, word, fc.integer({ min: 1, max: 20 }), (a, b, limit) => {
        const distance = editDistance(a, b, limit);
        expect(distance).toBe(editDistance(b, a, limit));
        expect(distance === 0).toBe(a === b);
        expect(distance).toBeLessThanOrEqual(limit);
      }),
    );
  });
});
