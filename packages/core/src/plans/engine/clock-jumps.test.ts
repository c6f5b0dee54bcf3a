import { afterEach, describe, expect, it } from "vitest";
import { callStep, planOf } from "../../../testing/engine/engine-world.ts";
import { createSimulatedClock, type SimulatedClock } from "../../../testing/simulated-clock.ts";
import { createMemoryBlobStore } from "../../memory/blob-store.ts";
import { createIds } from "../../memory/ids.ts";
import { silentLogger } from "../../memory/logger.ts";
import { createMemoryStateStore } from "../../memory/state-store.ts";
import { gateError } from "../../errors/gate.ts";
import type { AgenticPlan } from "../../schema/plan.ts";
import { createToolGate } from "../../tools/gate/gate.ts";
import { ToolRegistry } from "../../tools/registry.ts";
import { createEngine, type EmbeddedEngine } from "./engine.ts";

const HOUR_MS = 3_600_000;
const BACKOFF_MS = 2_500;
const session = { owner: "me", sessionId: "s" };
const retry = { maxAttempts: 3, backoffMs: BACKOFF_MS };
const TWICE: AgenticPlan = planOf("p", [{ ...callStep("a", "probe::flaky"), retry } as never]);

/** An engine on simulated time, whose tool fails until it is told to work. */
function createWorld() {
  const clock = createSimulatedClock();
  const [store, blobs, registry] = [createMemoryStateStore(), createMemoryBlobStore(), new ToolRegistry()];
  const attempts: number[] = [];
  const startMs = clock.monotonic();
  registry.register({
    definition: { id: "probe::flaky", description: "d", parameters: { type: "object" }, effects: "idempotent" },
    implementation: () => {
      attempts.push(clock.monotonic() - startMs);
      return Promise.reject(gateError("tool_failed", "not yet", { retryable: true }));
    },
  });
  const gate = createToolGate({ registry, clock, logger: silentLogger });
  const parts = { store, blobs, registry, gate, clock, ids: createIds({ clock }), logger: silentLogger };
  const plans = { get: () => undefined, ids: () => [] };
  const open = (): EmbeddedEngine => createEngine({ ...parts, plans });
  return { clock, attempts, open, engine: open() };
}

/** Lets everything happen that needs no time, then that which is due within so many milliseconds. */
async function pass(clock: SimulatedClock, ms: number): Promise<void> {
  const untilMs = clock.monotonic() + ms;
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setTimeout(resolve, 0));
  };
  await settle();
  while (clock.advance(untilMs)) await settle();
}

describe("a retry while the machine's clock is set", () => {
  const open: EmbeddedEngine[] = [];
  afterEach(async () => {
    for (const engine of open.splice(0)) await engine.close({ graceMs: 0 });
  });

  it.each([-HOUR_MS, HOUR_MS, 0])(
    "comes after its backoff in a process in which it is set by %d ms",
    async (jumpMs) => {
      const { clock, attempts, engine } = createWorld();
      open.push(engine);
      await engine.executePlan({ ...session, plan: TWICE, create: true });
      await pass(clock, 1_000);
      expect(attempts).toEqual([0]);
      clock.shift(jumpMs);
      await pass(clock, 1_000);
      expect(attempts).toEqual([0]);
      await pass(clock, 500);
      expect(attempts).toEqual([0, BACKOFF_MS]);
      // And once more, while it has been put right again.
      clock.shift(-jumpMs);
      await pass(clock, 2 * BACKOFF_MS);
      expect(attempts).toEqual([0, BACKOFF_MS, 3 * BACKOFF_MS]);
    },
  );

  it.each([
    [-HOUR_MS, BACKOFF_MS],
    [HOUR_MS, 0],
    [0, 1_500],
  ])("set by %d ms before the next process, comes %d ms after its start", async (jumpMs, expectedMs) => {
    const { clock, attempts, engine, open: openAgain } = createWorld();
    await engine.executePlan({ ...session, plan: TWICE, create: true });
    await pass(clock, 1_000);
    await engine.close({ graceMs: 0 });
    clock.forget();
    clock.shift(jumpMs);
    const next = openAgain();
    open.push(next);
    await next.recover();
    if (expectedMs > 0) await pass(clock, expectedMs - 1);
    if (expectedMs > 0) expect(attempts).toEqual([0]);
    await pass(clock, 1);
    expect(attempts).toEqual([0, 1_000 + expectedMs]);
  });

  it.each([-HOUR_MS, HOUR_MS])("does not change how long a session is awaited (%d ms)", async (jumpMs) => {
    const { clock, engine } = createWorld();
    open.push(engine);
    await engine.executePlan({ ...session, plan: TWICE, create: true });
    let waited: string | undefined;
    void engine.settled({ ...session, timeoutMs: 2_000 }).then(({ status }) => (waited = status));
    await pass(clock, 1_000);
    clock.shift(jumpMs);
    await pass(clock, 900);
    expect(waited).toBeUndefined();
    await pass(clock, 100);
    expect(waited).toBe("paused");
  });
});
