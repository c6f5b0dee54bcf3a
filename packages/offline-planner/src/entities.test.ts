import { describe, expect, it } from "vitest";
import type { Entity } from "@ergon/core/planner";
import { MAX_ENTITIES, mentionsIn } from "./entities.ts";

const entities: readonly Entity[] = [
  "Amara Osei",
  "Ana Li",
  "Jean-Luc Dupont",
  "Data Engineer",
  "Engineer",
  "Åsa Öberg",
].map((name) => ({
  kind: "k",
  id: name.toLowerCase().replaceAll(" ", "-"),
  name,
}));

function named(text: string): readonly string[] {
  return mentionsIn(text, entities).map(({ entity }) => entity.name);
}

describe("names in a message", () => {
  it.each([
    ["is Amara Osei ready?", ["Amara Osei"]],
    ["AMARA OSEI'S gaps", ["Amara Osei"]],
    ["amra osei", ["Amara Osei"]],
    ["what about Jean Luc Dupond", ["Jean-Luc Dupont"]],
    ["asa oberg as data engineers", ["Åsa Öberg", "Data Engineer"]],
    ["an engineer", ["Engineer"]],
    ["and Li, and lime", []],
    ["see jean-luc-dupont", ["Jean-Luc Dupont"]],
    ["nobody here", []],
  ])("%s", (text, expected) => {
    expect(named(text)).toEqual(expected);
  });

  it("are looked for among as many as the bound says", () => {
    const many = Array.from({ length: MAX_ENTITIES + 1 }, (_, n) => ({
      kind: "k",
      id: `id${String(n)}`,
      name: `Name${String(n)}`,
    }));
    expect(mentionsIn(`Name${String(MAX_ENTITIES - 1)}`, many)).toHaveLength(1);
    expect(mentionsIn(`see id${String(MAX_ENTITIES)}`, many)).toEqual([]);
  });
});
