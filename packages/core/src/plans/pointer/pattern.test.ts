import { describe, expect, it } from "vitest";
import { compilePointer } from "./compile.ts";
import { MAX_PATTERN_LENGTH, MAX_POINTER_WORK, PATTERN_CACHE_SIZE } from "./limits.ts";
import { createMemoryView } from "./memory-view.ts";
import { compilePattern, matchesPattern } from "./pattern.ts";
import { resolvePointer } from "./resolve.ts";

describe("matchesPattern", () => {
  it.each([
    ["report-2026.pdf", "\\d{4}", true],
    ["report-2026.pdf", "^\\d{4}", false],
    ["report-2026.pdf", "\\.pdf$", true],
    ["Grüße", "^\\p{Lu}", true],
    ["ABC", "(?i)abc", true],
    ["", "", true],
    ["a\rb", "a.b", true],
  ])("asks whether %j has %j anywhere in it: %s", (text, pattern, expected) => {
    expect(matchesPattern(text, pattern)).toBe(expected);
  });

  it.each(["(?=a)", "(a)\\1", "(", "a{1001}", "((a{100}){100}){100}"])("refuses %j", (pattern) => {
    expect(() => matchesPattern("a", pattern)).toThrow(
      expect.objectContaining({ code: "pattern_invalid", details: { pattern } }),
    );
  });

  it("takes a pattern of the greatest length and refuses one more character", () => {
    expect(matchesPattern("b", "a".repeat(MAX_PATTERN_LENGTH))).toBe(false);
    expect(() => matchesPattern("b", "a".repeat(MAX_PATTERN_LENGTH + 1))).toThrow(
      expect.objectContaining({ code: "pattern_invalid" }),
    );
  });

  it("takes a text as long as the pattern can afford and refuses one more character", () => {
    const pattern = compilePattern("needle", "anywhere");
    const length = Math.floor(MAX_POINTER_WORK / pattern.size);
    expect(pattern.test("a".repeat(length))).toBe(false);
    expect(() => pattern.test("a".repeat(length + 1))).toThrow(expect.objectContaining({ code: "pointer_limit" }));
  });

  it("keeps the patterns used last and lets the oldest go", () => {
    const first = compilePattern("kept 0", "anywhere");
    for (let n = 1; n < PATTERN_CACHE_SIZE; n++) compilePattern(`kept ${String(n)}`, "anywhere");
    expect(compilePattern("kept 0", "anywhere")).toBe(first);
    const second = compilePattern("kept 1", "anywhere");
    for (let n = 0; n < PATTERN_CACHE_SIZE; n++) compilePattern(`other ${String(n)}`, "anywhere");
    expect(compilePattern("kept 1", "anywhere")).not.toBe(second);
  });
});

describe("patterns that make a backtracking engine hang", () => {
  const hostile = `${"a".repeat(50_000)}!`;

  it.each(["(a+)+$", "^(a|aa)+$", "(.*)*x", "([a-zA-Z]+)*$1", "(a|a)*b", "^(\\w+\\s?)*$", "(x+x+)+y"])(
    "end at once: %s",
    (pattern) => {
      const started = performance.now();
      matchesPattern(hostile, pattern);
      expect(performance.now() - started).toBeLessThan(2_000);
    },
  );

  it.each(["match", "search"])("end at once in the filter function %s()", (name) => {
    const view = createMemoryView({ context: { rows: [hostile, "aaa"], pattern: "(a+)+$" } });
    for (const pattern of ["'(a+)+$'", "$.context.pattern"]) {
      const started = performance.now();
      const found = resolvePointer(compilePointer(`$.context.rows[?${name}(@, ${pattern})]`), view);
      expect(found).toEqual({ kind: "value", value: ["aaa"] });
      expect(performance.now() - started).toBeLessThan(2_000);
    }
  });

  it("are stopped when a large pattern meets many texts", () => {
    const rows = Array.from({ length: 2_000 }, () => "ab".repeat(100));
    const view = createMemoryView({ context: { rows } });
    const pointer = compilePointer("$.context.rows[?search(@, '([ab]?){300}[ab]{300}c')]");
    expect(() => resolvePointer(pointer, view)).toThrow(expect.objectContaining({ code: "pointer_limit" }));
  });
});

describe("match() and search()", () => {
  const select = (test: string, rows: unknown[]) => {
    const found = resolvePointer(compilePointer(`$.context.rows[?${test}]`), createMemoryView({ context: { rows } }));
    return found.kind === "value" ? found.value : undefined;
  };

  it("differ in that match() takes the whole text", () => {
    expect(select("match(@, 'a|b')", ["a", "ab", "b", 1, null])).toEqual(["a", "b"]);
    expect(select("search(@, 'a|b')", ["a", "ab", "xbx", "y"])).toEqual(["a", "ab", "xbx"]);
  });

  it("let a dot stand for anything but a line break", () => {
    expect(select("match(@, 'a.b')", ["a\rb", "a\nb", "a\u2028b", "a.b", "a😀b"])).toEqual(["a\u2028b", "a.b", "a😀b"]);
    expect(select("match(@, 'a[.]b')", ["a.b", "axb"])).toEqual(["a.b"]);
    expect(select("match(@, 'a[].]b')", ["a.b", "a]b", "axb"])).toEqual(["a.b", "a]b"]);
    expect(select("match(@, 'a[^.]b')", ["a.b", "axb"])).toEqual(["axb"]);
  });

  it("match nothing when the pattern comes from the data and is none", () => {
    const context = { rows: ["a"], bad: "(", number: 1 };
    const view = createMemoryView({ context });
    for (const pattern of ["$.context.bad", "$.context.number", "$.context.nowhere"]) {
      expect(resolvePointer(compilePointer(`$.context.rows[?match(@, ${pattern})]`), view)).toMatchObject({
        value: [],
      });
    }
  });

  it("leave length() to count characters, not UTF-16 units", () => {
    expect(select("length(@)==1", ["😀", "a", "ab", [1], { k: 1 }, 5])).toEqual(["😀", "a", [1], { k: 1 }]);
  });
});
