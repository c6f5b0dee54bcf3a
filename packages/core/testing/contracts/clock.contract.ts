import { describe, expect, it } from "vitest";
import { type Clock, isoTime } from "../../src/ports/clock.ts";

export type OpenedClock = {
  readonly clock: Clock;
  /** Lets this much of the clock's own time pass. */
  readonly pass: (ms: number) => Promise<void>;
};

/** What every Clock must do. Waits are kept short, because some clocks really wait. */
export function clockContract(name: string, open: () => OpenedClock): void {
  describe(`the clock contract: ${name}`, () => {
    it("tells milliseconds since the epoch, and moves on", async () => {
      const { clock, pass } = open();
      const before = clock.now();
      expect(isoTime(clock)).toMatch(/^\d{4}-\d\d-\d\dT/);
      await pass(20);
      expect(clock.now()).toBeGreaterThan(before);
    });

    it("measures durations that never go back", async () => {
      const { clock, pass } = open();
      let last = clock.monotonic();
      for (let n = 0; n < 5; n += 1) {
        await pass(2);
        expect(clock.monotonic()).toBeGreaterThan(last);
        last = clock.monotonic();
      }
    });

    it("wakes sleepers in the order of their times", async () => {
      const { clock, pass } = open();
      const woken: string[] = [];
      const sleeps = [40, 1, 20].map((ms) => clock.sleep(ms).then(() => woken.push(String(ms))));
      await pass(80);
      await Promise.all(sleeps);
      expect(woken).toEqual(["1", "20", "40"]);
    });

    it("lets a sleeper go when its signal aborts, before or during the sleep", async () => {
      const { clock } = open();
      const abort = new AbortController();
      const sleeping = clock.sleep(60_000, abort.signal);
      abort.abort();
      await sleeping;
      await clock.sleep(60_000, abort.signal);
      expect(abort.signal.aborted).toBe(true);
    });

    it("calls back once, unless it was called off", async () => {
      const { clock, pass } = open();
      const calls: string[] = [];
      clock.after(5, () => void calls.push("called"));
      const callOff = clock.after(5, () => void calls.push("called off"));
      const later = clock.after(60_000, () => void calls.push("later"));
      callOff();
      callOff();
      await pass(30);
      later();
      expect(calls).toEqual(["called"]);
    });

    it.each([0, -5, Number.NaN])("takes a wait of %d ms as none, but never calls back at once", async (ms) => {
      const { clock, pass } = open();
      let called = false;
      clock.after(ms, () => {
        called = true;
      });
      expect(called).toBe(false);
      await pass(10);
      expect(called).toBe(true);
    });

    it("does not fire a wait early because it is long", async () => {
      const { clock, pass } = open();
      let called = false;
      const callOff = clock.after(2 ** 33, () => {
        called = true;
      });
      await pass(10);
      callOff();
      expect(called).toBe(false);
    });
  });
}
