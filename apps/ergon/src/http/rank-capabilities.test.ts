import { describe, expect, it } from "vitest";
import { type Capability, rankCapabilities } from "./rank-capabilities.ts";

const of = (id: string, description: string, tags: readonly string[] = []): Capability => ({
  kind: "tool",
  id,
  title: id,
  description,
  tags,
});
const all = [
  of("demo::greet", "Greets somebody by name."),
  of("demo::word_count", "Counts the words of a text."),
  of("summarizeText", "Makes a text shorter.", ["nlp"]),
  of("demo::add", "Adds two numbers."),
];
const found = (query: string, limit = 10) => rankCapabilities(all, query, limit).map(({ id }) => id);

describe("discovering capabilities", () => {
  it.each([
    ["count words in my text", ["demo::word_count", "summarizeText"]],
    ["summarize this", ["summarizeText"]],
    ["NLP", ["summarizeText"]],
    ["greet", ["demo::greet"]],
    ["number", ["demo::add"]],
    ["weather", []],
    ["!!!", []],
  ])("finds for %j %j", (query, expected) => {
    expect(found(query).slice(0, Math.max(1, expected.length))).toEqual(expected);
  });

  it("gives at most what was asked for, in a stable order", () => {
    expect(found("demo", 2)).toHaveLength(2);
    expect(found("demo")).toEqual(found("demo"));
  });
});
