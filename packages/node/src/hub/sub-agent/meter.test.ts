import { describe, expect, it } from "vitest";
import { createMeter } from "./meter.ts";

function metered(alreadyUnits = 0) {
  let ms = 0;
  const meter = createMeter("add_server", () => ms, alreadyUnits);
  return { meter, after: (more: number) => (ms += more) };
}

describe("what a request to the sub-agent consumes", () => {
  it("is two units a second of work, on top of what it consumed before, up to the most that it may", () => {
    const { meter, after } = metered(1);
    after(1_500);
    expect(meter.reading()).toBe(4);
    meter.pause();
    after(10_000);
    expect(meter.reading()).toBe(4);
    meter.resume();
    after(1_000);
    expect(meter.reading()).toBe(6);
    after(60_000);
    expect(meter.reading()).toBe(10);
  });

  it.each([
    ["end", 2],
    ["final", 5],
  ] as const)("stands still at its %s, %i units, until that is written", (how, units) => {
    const { meter, after } = metered();
    after(1_000);
    expect(meter[how]()).toBe(units);
    after(1_000);
    expect(meter.reading()).toBe(2);
    expect(meter[how]()).toBe(units);
  });
});
