import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { afterPrefix, byteOrder } from "./byte-order.ts";

const text = fc.string({ unit: "binary", maxLength: 6 });
const bytes = (value: string): string =>
  Array.from(new TextEncoder().encode(value), (byte) => String.fromCharCode(byte)).join("");

describe("byte order", () => {
  it("is the order of the UTF-8 bytes", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const expected = bytes(a) < bytes(b) ? -1 : bytes(a) > bytes(b) ? 1 : 0;
        expect(Math.sign(byteOrder(a, b))).toBe(expected);
      }),
    );
  });

  it.each([
    ["a", "b"],
    ["a\ud7ff", "a\ue000"],
    ["a\u{10ffff}", "b"],
    ["", undefined],
    ["\u{10ffff}", undefined],
  ])("has after everything that begins with %j: %j", (prefix, next) => {
    expect(afterPrefix(prefix)).toBe(next);
  });

  it("has nothing that begins with a prefix at or behind what comes after it", () => {
    fc.assert(
      fc.property(text, text, (prefix, rest) => {
        const next = afterPrefix(prefix);
        expect(next === undefined || byteOrder(prefix + rest, next) < 0).toBe(true);
      }),
    );
  });
});
