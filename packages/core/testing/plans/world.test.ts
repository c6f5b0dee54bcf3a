import { describe, expect, it } from "vitest";
import { LAST_FAILING_SLOT, seededWorld, SHAPES } from "./world.ts";

const place = (slot: number, stepId = "s") => ({ position: [1, slot], stepId });
const call = (slot: number, shape: string, attempt = 1) => ({
  ...place(slot),
  toolId: "test::a",
  args: { shape },
  attempt,
});
const SLOTS = Array.from({ length: 5_000 }, (_, slot) => slot);

describe("a seeded world", () => {
  it("answers the same question in the same way, however often and in whatever order", () => {
    const [one, two] = [seededWorld(7), seededWorld(7)];
    const ask = (world: typeof one, slot: number) => [
      world.call(call(slot, "any")),
      world.answer(place(slot)),
      world.decide(place(slot)),
    ];
    const forwards = SLOTS.slice(0, 200).map((slot) => ask(one, slot));
    const backwards = SLOTS.slice(0, 200)
      .toReversed()
      .map((slot) => ask(two, slot));
    expect(backwards.toReversed()).toEqual(forwards);
    expect(SLOTS.slice(0, 200).map((slot) => ask(seededWorld(8), slot))).not.toEqual(forwards);
  });

  it("fails about one call in ten, and never from the last failing slot on", () => {
    const errors = (slot: number) =>
      SLOTS.filter((seed) => "error" in seededWorld(seed).call(call(slot, "number"))).length;
    expect(errors(0) / SLOTS.length).toBeCloseTo(0.1, 1);
    expect(errors(LAST_FAILING_SLOT - 1)).toBeGreaterThan(0);
    expect(errors(LAST_FAILING_SLOT)).toBe(0);
  });

  it("gives the shape that it is asked for", () => {
    const kinds = new Map(SHAPES.map((shape) => [shape, new Set<string>()]));
    for (const shape of SHAPES) {
      for (const slot of SLOTS.slice(LAST_FAILING_SLOT, 400)) {
        const result = seededWorld(1).call(call(slot, shape));
        const output = "output" in result ? result.output : undefined;
        kinds.get(shape)?.add(output === null ? "null" : Array.isArray(output) ? "array" : typeof output);
      }
    }
    const found = Object.fromEntries([...kinds].map(([shape, names]) => [shape, [...names].toSorted()]));
    expect(found).toEqual({
      number: ["number"],
      string: ["string"],
      object: ["object"],
      array: ["array"],
      objects: ["array"],
      slot: ["number"],
      echo: ["object"],
      null: ["null"],
      any: ["array", "null", "number", "object", "string"],
    });
  });

  it("never retries three times in a row", () => {
    const world = seededWorld(2);
    const decisions = SLOTS.map((slot) => world.decide(place(slot)).action);
    expect(decisions).toContain("retry");
    expect(
      decisions.some(
        (_, slot) => decisions.slice(slot, slot + 3).every((each) => each === "retry") && slot + 2 < SLOTS.length,
      ),
    ).toBe(false);
  });
});
