import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BODY_LIMITS, shapeProblem } from "./json-body.ts";

describe("the shape of a body", () => {
  it("may be as deep as its bound, and no deeper", () => {
    expect(shapeProblem(nested(BODY_LIMITS.depth), BODY_LIMITS)).toBeUndefined();
    expect(shapeProblem(nested(BODY_LIMITS.depth + 1), BODY_LIMITS)).toContain("deeper");
    expect(shapeProblem(JSON.parse("[".repeat(400_000) + "]".repeat(400_000)), BODY_LIMITS)).toContain("deeper");
  });

  it("may have as many values as its bound, and no more", () => {
    expect(shapeProblem(list(BODY_LIMITS.values - 1), BODY_LIMITS)).toBeUndefined();
    expect(shapeProblem(list(BODY_LIMITS.values), BODY_LIMITS)).toContain("more than");
    const wide = Object.fromEntries(list(BODY_LIMITS.values).map((_, index) => [`k${index}`, 0]));
    expect(shapeProblem(wide, BODY_LIMITS)).toContain("more than");
  });

  it.each([
    ['{"a":[1,{"__proto__":{}}]}', "/a/1/__proto__"],
    ['{"a":{"b":[1e999]}}', "/a/b/0"],
  ])("names where %s goes wrong", (text, place) => {
    expect(shapeProblem(JSON.parse(text), BODY_LIMITS)).toContain(place);
  });

  it("lets all other JSON be", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!text.includes("__proto__"));
        expect(shapeProblem(JSON.parse(text), BODY_LIMITS)).toBeUndefined();
      }),
    );
  });
});

function nested(depth: number): unknown {
  let value: unknown = 0;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

function list(length: number): number[] {
  return Array.from({ length }, () => 0);
}
