import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { afterPrefix, decodePosition, encodePosition, partAt } from "./position.ts";

const parts = fc.array(fc.nat({ max: Number.MAX_SAFE_INTEGER }), { minLength: 1, maxLength: 9 });

describe("positions", () => {
  it("sort as strings in the order of their numbers", () => {
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        expect(Math.sign(compareText(encodePosition(a), encodePosition(b)))).toBe(Math.sign(compareNumbers(a, b)));
      }),
    );
  });

  it("come back as the numbers that they were made of", () => {
    fc.assert(
      fc.property(parts, (a) => {
        expect(decodePosition(encodePosition(a))).toEqual(a);
      }),
    );
  });

  it("lie between their prefix and what follows it, and no others do", () => {
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        const prefix = encodePosition(a);
        const position = encodePosition(b);
        expect(position >= prefix && position < afterPrefix(prefix)).toBe(a.every((n, index) => b[index] === n));
      }),
    );
  });

  it("are read one number at a time", () => {
    const position = encodePosition([1, 40, 3]);
    const first = partAt(position, 0);
    expect(first.value).toBe(1);
    expect(partAt(position, first.end).value).toBe(40);
  });
});

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function compareNumbers(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
