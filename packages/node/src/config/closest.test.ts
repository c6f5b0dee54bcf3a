import { expect, it } from "vitest";
import { closest, MAX_COMPARED_LENGTH } from "./closest.ts";

it.each([
  ["tols", "tools"],
  ["lsit", "list"],
  ["demo::gret", "demo::greet"],
  ["DEMO::GREET", "demo::greet"],
])("takes %j for %j", (word, meant) => {
  expect(closest(word, ["tools", "list", "doctor", "demo::greet"])).toBe(meant);
});

it("names nothing when nothing is near", () => {
  expect(closest("xyzzy", ["tools", "list"])).toBeUndefined();
  expect(closest("anything", [])).toBeUndefined();
});

it("compares long words by their beginning", () => {
  const long = "a".repeat(MAX_COMPARED_LENGTH);
  expect(closest(`${long}${"b".repeat(1_000_000)}`, [long])).toBe(long);
});
