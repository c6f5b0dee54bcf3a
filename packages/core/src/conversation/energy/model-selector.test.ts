import { describe, expect, it } from "vitest";
import { createScriptedModel } from "../../../testing/scripted-model.ts";
import { createModelSelector, replyTokens } from "./model-selector.ts";

it("lets answers get shorter as energy goes down", () => {
  expect([100, 60, 59, 30, 29, 10, 9, -50].map(replyTokens)).toEqual([1_000, 1_000, 500, 500, 250, 250, 100, 100]);
});

describe("the choice of a model", () => {
  const [large, small] = ["x/large", "x/small"].map((id) => ({ ...createScriptedModel(["x"]), id }));
  if (large === undefined || small === undefined) throw new Error("there are two");
  const always = (): boolean => true;

  it("is the dearest that the level covers, by the average of its last calls, else the cheapest", () => {
    const shelf = createModelSelector([large, small]);
    expect(shelf.choose(100, always)).toBe(large);
    for (const units of [50, 30, 20, 20, 20, 10]) shelf.learn(large, units);
    shelf.learn(small, 2);
    expect(shelf.estimate(large)).toBe(20);
    expect([21, 20, 19, 2, 1, -50].map((level) => shelf.choose(level, always)?.id)).toEqual([
      "x/large",
      "x/large",
      "x/small",
      "x/small",
      "x/small",
      "x/small",
    ]);
  });

  it("leaves out those that are down", () => {
    const shelf = createModelSelector([large, small]);
    expect(shelf.choose(100, ({ id }) => id !== "x/large")).toBe(small);
    expect(shelf.choose(100, () => false)).toBeUndefined();
    expect(createModelSelector([]).choose(100, always)).toBeUndefined();
  });
});
