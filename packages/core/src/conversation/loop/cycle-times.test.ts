import { expect, it } from "vitest";
import { createCycleTimes } from "./cycle-times.ts";

it("says how long cycles took, of the last thousand", () => {
  const times = createCycleTimes();
  expect(times.summary()).toEqual({ p50: 0, p99: 0, max: 0 });
  for (let ms = 0; ms < 1_000; ms += 1) times.add(ms);
  expect(times.summary()).toEqual({ p50: 500, p99: 990, max: 999 });
  for (let n = 0; n < 1_000; n += 1) times.add(1);
  expect(times.summary()).toEqual({ p50: 1, p99: 1, max: 1 });
});
