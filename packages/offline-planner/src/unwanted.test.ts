import { describe, expect, it } from "vitest";
import { wantedOf } from "./unwanted.ts";

const words = (message: string): string => wantedOf(message).replaceAll(/\s+/g, " ").trim();

describe("what a message asks not to do", () => {
  it.each([
    ["Don't greet Ada", ""],
    ["Please do not greet Ada.", ""],
    ["never delete the file", ""],
    ["You must not greet Ada", ""],
    ["Greet Ada but don't greet Bob", "Greet Ada but"],
    ["Greet Ada, but do not greet Bob", "Greet Ada, but"],
    ["Do not greet Bob. Greet Ada.", ". Greet Ada."],
    ["Don’t greet Bob; greet Ada", "; greet Ada"],
    ["a b; c d; e f; g h; don't greet Bob", "a b; c d; e f; g h;"],
  ])("is left out: %s", (message, left) => expect(words(message)).toBe(left));

  it.each([
    "Don't forget to greet Ada",
    "Don't you know how many words this has?",
    "Why don't you greet Ada",
    'Count the words in "don\'t greet Ada"',
    "Greet Donte",
    "How many words are in: never say never",
  ])("is nothing of: %s", (message) => expect(wantedOf(message)).toBe(message));

  it("is found in linear time", () => {
    expect(wantedOf("don't ".repeat(200_000)).length).toBeLessThanOrEqual(1_200_000);
    expect(wantedOf("and but ".repeat(100_000))).toBe("and but ".repeat(100_000));
  });
});
