import { describe, expect, it } from "vitest";
import { clockContract } from "../../testing/contracts/clock.contract.ts";
import { createSystemClock, MAX_TIMER_MS } from "./clock.ts";

clockContract("the system's", () => {
  const clock = createSystemClock();
  return { clock, pass: (ms) => clock.sleep(ms) };
});

describe("the system's clock", () => {
  it.each([MAX_TIMER_MS, MAX_TIMER_MS + 1])(
    "waits for %d ms, although no timer is longer than its bound",
    async (ms) => {
      const clock = createSystemClock();
      let called = false;
      const callOff = clock.after(ms, () => {
        called = true;
      });
      await clock.sleep(5);
      callOff();
      expect(called).toBe(false);
    },
  );
});
