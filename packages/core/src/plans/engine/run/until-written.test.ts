import { describe, expect, it } from "vitest";
import { createSimulatedClock } from "../../../../testing/simulated-clock.ts";
import { storeError } from "../../../errors/store.ts";
import { silentLogger } from "../../../memory/logger.ts";
import { FIRST_WRITE_RETRY_MS, LAST_WRITE_RETRY_MS, untilWritten } from "./until-written.ts";

const full = (): Error => storeError("store_unavailable", "The disk is full.", { retryable: true });

describe("writing until it is written", () => {
  it("tries again at growing intervals, up to a bound, until it works", async () => {
    const clock = createSimulatedClock(0);
    const tries: number[] = [];
    const work = untilWritten({ clock, logger: silentLogger, stopping: new AbortController().signal }, () => {
      tries.push(clock.now());
      return tries.length < 12 ? Promise.reject(full()) : Promise.resolve("written");
    });
    while (tries.length < 12) {
      await Promise.resolve();
      clock.jump();
    }
    expect(await work).toBe("written");
    const waits = tries.slice(1).map((at, index) => at - (tries[index] ?? 0));
    expect(waits[0]).toBe(FIRST_WRITE_RETRY_MS);
    expect(waits[1]).toBe(2 * FIRST_WRITE_RETRY_MS);
    expect(Math.max(...waits)).toBe(LAST_WRITE_RETRY_MS);
  });

  it("gives up when the engine stops, and at once for any other failure", async () => {
    const clock = createSimulatedClock();
    const stopped = { clock, logger: silentLogger, stopping: AbortSignal.abort() };
    await expect(untilWritten(stopped, () => Promise.reject(full()))).rejects.toMatchObject({
      code: "store_unavailable",
    });
    const going = { clock, logger: silentLogger, stopping: new AbortController().signal };
    const conflict = storeError("session_conflict", "Somebody else wrote.");
    await expect(untilWritten(going, () => Promise.reject(conflict))).rejects.toBe(conflict);
  });
});
