import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isoTime } from "./clock.ts";

const at = (ms: number): string => isoTime({ now: () => ms });

describe("the time as it is written", () => {
  it("is what a date says, whatever came before", () => {
    const near = fc.integer({ min: 0, max: 5_000 }).map((ms) => 1_700_000_000_000 + ms);
    const any = fc.integer({ min: -8_640_000_000_000_000, max: 8_640_000_000_000_000 });
    const fraction = fc.double({ min: 0, max: 4e12, noNaN: true });
    fc.assert(
      fc.property(fc.array(fc.oneof(near, any, fraction), { maxLength: 20 }), (times) => {
        for (const ms of times) expect(at(ms)).toBe(new Date(Math.floor(ms)).toISOString());
      }),
    );
  });

  it("cannot be written where there is no such date", () => {
    expect(() => at(Number.NaN)).toThrow(RangeError);
    expect(() => at(Infinity)).toThrow(RangeError);
  });
});
