import { createSimulatedClock } from "@ergon/core/testing";
import { describe, expect, it } from "vitest";
import { describeEnd, MAX_CALLS_NAMED, MAX_UNHURRIED_MS, unhurried } from "./leaving.ts";

describe("a process that ends with calls under way", () => {
  const calls = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ sessionId: `s${String(n)}`, toolId: `t::${String(n)}` }));

  it("names them, the first ones where there are many", () => {
    expect(describeEnd([])).toBeUndefined();
    expect(describeEnd(calls(1))).toContain("t::0 (s0). The next one takes them up");
    expect(describeEnd(calls(MAX_CALLS_NAMED))).toContain(`t::4 (s4). `);
    expect(describeEnd(calls(MAX_CALLS_NAMED + 1))).toContain("t::4 (s4) and 1 more. ");
  });
});

describe("a command that waits for calls of others", () => {
  const never = new Promise<void>(() => undefined);

  it("says so after a moment, and goes after a while", async () => {
    const clock = createSimulatedClock();
    const startedMs = clock.now();
    const said: string[] = [];
    const left = unhurried(never, { clock, stopping: new AbortController().signal, note: (line) => said.push(line) });
    clock.jump();
    await Promise.resolve();
    expect(said).toHaveLength(1);
    clock.jump();
    await left;
    expect(clock.now() - startedMs).toBe(MAX_UNHURRIED_MS);
  });

  it("says nothing when they end at once, and goes when it is told to", async () => {
    const clock = createSimulatedClock();
    const stop = new AbortController();
    const said: string[] = [];
    const parts = { clock, stopping: stop.signal, note: (line: string) => said.push(line) };
    await unhurried(Promise.resolve(), parts);
    const waiting = unhurried(never, parts);
    stop.abort();
    await waiting;
    await unhurried(never, parts);
    expect(said).toEqual([]);
  });
});
