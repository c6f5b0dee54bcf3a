import { describe, expect, it } from "vitest";
import { clausesOf } from "./clauses.ts";
import { spansOf } from "./spans.ts";

/** What took a power of this many steps would not end within a test's time. */
const LENGTH = 100_000;

describe("a message as long as one may be", () => {
  it.each([
    ["a word", "Ab1"],
    ["a path without an end", "a/b.c-"],
    ["dots", "."],
    ["a place of dots", "/."],
    ["opened quotes", "“"],
    ["opened marks", "«"],
    ["apostrophes", "'a"],
    ["names", "Aa "],
    ["full stops", "a. "],
    ["quoted words", '"a"; '],
    ["signs at", "a@"],
    ["colons", ": "],
    ["spaces", " "],
    ["ands", "and a "],
  ])("is read in a time that grows with it and no faster: %s", (_, part) => {
    const text = `greet ${part.repeat(LENGTH / part.length)}x`;
    expect(spansOf(text)).toBeDefined();
    expect(clausesOf(text).length).toBeLessThanOrEqual(4);
  });

  it.each([
    ["https://example.org/" + "!".repeat(LENGTH) + "a", "urls"],
    ["see /" + ".".repeat(LENGTH) + "a", "paths"],
  ] as const)("is read so, too, where marks are inside an address", (text, kind) => {
    expect(spansOf(text)[kind]).toHaveLength(1);
  });
});

describe("paths in a message", () => {
  it.each([
    ["load data/sales.csv, please", ["data/sales.csv"]],
    ["look into ./in and ~/notes.md", ["./in", "~/notes.md"]],
    ["open /var/log/a.log.", ["/var/log/a.log"]],
    ["go to https://example.org/x", []],
    ["one/two", []],
  ])("%s", (text, paths) => {
    expect(spansOf(text).paths).toEqual(paths);
  });
});
