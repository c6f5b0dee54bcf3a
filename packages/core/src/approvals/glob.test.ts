import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesGlob } from "./glob.ts";

describe("matchesGlob", () => {
  it.each([
    ["*", "", true],
    ["read_*", "read_file", true],
    ["read_*", "write_file", false],
    ["*_file", "read_text_file", true],
    ["r?ad", "read", true],
    ["r?ad", "rad", false],
    ["a.c", "abc", false],
    ["[ab]", "a", false],
    ["", "", true],
    ["", "a", false],
    ["a*b*c", "a-b-b-c", true],
  ])("%j on %j is %s", (pattern, text, answer) => {
    expect(matchesGlob(pattern, text)).toBe(answer);
  });

  it("agrees with a regular expression that says the same", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "*", "?", "."), maxLength: 8 });
    fc.assert(
      fc.property(letters, fc.string({ unit: fc.constantFrom("a", "b", "."), maxLength: 10 }), (pattern, text) => {
        const source = pattern.replaceAll(".", "\\.").replaceAll("*", ".*").replaceAll("?", ".");
        expect(matchesGlob(pattern, text)).toBe(new RegExp(`^${source}$`, "s").test(text));
      }),
    );
  });

  it("is quick on patterns that make regular expressions hang", () => {
    expect(matchesGlob("*a".repeat(500), "a".repeat(499))).toBe(false);
  });
});
