import { describe, expect, it } from "vitest";
import { clausesOf, MAX_CLAUSES } from "./clauses.ts";

describe("the clauses of a message", () => {
  it.each([
    ["add 3 and 4", ["add 3 and 4"]],
    ["which are missing, and what should they learn first?", ["which are missing", "what should they learn first"]],
    ['How many words are in "a, and b", and greet Ada', ['How many words are in "a, and b"', "greet Ada"]],
    ['count "a b" and greet Ada Lovelace', ['count "a b"', "greet Ada Lovelace"]],
    ['greet Ada and count "a b"', ["greet Ada", 'count "a b"']],
    ["greet Ada and Grace Hopper", ["greet Ada and Grace Hopper"]],
    ["Sum this up: The sea is wide. We row on.", ["Sum this up: The sea is wide. We row on."]],
    ["Greet Ada. Add 3 and 4.", ["Greet Ada", "Add 3 and 4."]],
    ["Add 3 and 4; thanks", ["Add 3 and 4"]],
  ])("%s", (message, expected) => {
    expect(clausesOf(message).map(({ text }) => text)).toEqual(expected);
  });

  it("never break a name", () => {
    const message = "who fits Research and the Arts best, and who is next?";
    const name = "Research and the Arts";
    const clauses = clausesOf(message, [{ at: message.indexOf(name), length: name.length }]);
    expect(clauses.map(({ text }) => text)).toEqual([`who fits ${name} best`, "who is next"]);
  });

  it("know where they stand", () => {
    const message = "  greet Ada;  add 3 and 4 ";
    for (const { text, at, length } of clausesOf(message)) expect(message.slice(at, at + length)).toBe(text);
  });

  it("are as many as the bound says", () => {
    const message = Array.from({ length: MAX_CLAUSES + 1 }, (_, n) => `do thing ${String(n)}`).join("; ");
    expect(clausesOf(message)).toHaveLength(MAX_CLAUSES);
  });
});
