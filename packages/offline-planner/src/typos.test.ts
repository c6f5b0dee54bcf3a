import { describe, expect, it } from "vitest";
import { typosBetween } from "./typos.ts";

describe("typos between two words", () => {
  it.each([
    ["amara", "amara", 0],
    ["amra", "amara", 1],
    ["amraa", "amara", 1],
    ["anara", "amara", 1],
    ["amarra", "amara", 1],
    ["", "ab", 2],
    ["kitten", "sitting", 3],
    ["kitten", "sitings", Infinity],
  ])("%s, %s: %s", (said, word, typos) => {
    expect(typosBetween(said, word, 3)).toBe(typos);
    expect(typosBetween(word, said, 3)).toBe(typos);
    expect(typosBetween(said, word, Math.min(3, typos) - 1)).toBe(Infinity);
  });

  it("are at most three, however many are allowed", () => {
    const word = "a".repeat(100_000);
    expect(typosBetween(`bbb${word}`, word, 50)).toBe(3);
    expect(typosBetween(`bbbb${word}`, word, 50)).toBe(Infinity);
  });
});
