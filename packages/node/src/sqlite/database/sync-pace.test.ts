import { describe, expect, it } from "vitest";
import { createSyncPace, FIRST_REST, LONGEST_REST, QUICK_SYNC_MS } from "./sync-pace.ts";

const JUST_SLOW_MS = QUICK_SYNC_MS + 0.001;

describe("the pace of syncs", () => {
  it("is quick until one has taken long", () => {
    const { pace } = atTime();
    expect(pace.isQuick()).toBe(true);
    pace.took(0);
    pace.took(QUICK_SYNC_MS);
    expect(pace.isQuick()).toBe(true);
    pace.took(JUST_SLOW_MS);
    expect(pace.isQuick()).toBe(false);
  });

  it("is quick again when a slow one's time has passed twenty times", () => {
    const { pace, pass } = atTime();
    pass(1_000);
    pace.took(5);
    pass(5 * FIRST_REST - 1);
    expect(pace.isQuick()).toBe(false);
    pass(1);
    expect(pace.isQuick()).toBe(true);
    expect(FIRST_REST).toBe(20);
  });

  it("rests twice as long each time that the first one after a rest is slow again, up to a bound", () => {
    const world = atTime();
    const rests = Array.from({ length: 9 }, () => restAfter(world, 1));
    expect(rests).toEqual([20, 40, 80, 160, 320, 640, 1_280, 1_280, 1_280]);
    expect(LONGEST_REST).toBe(1_280);
  });

  it("rests by what the last slow one took, not by those before it", () => {
    const world = atTime();
    expect(restAfter(world, 100)).toBe(100 * FIRST_REST);
    expect(restAfter(world, 1)).toBe(2 * FIRST_REST);
    expect(restAfter(world, 8)).toBe(8 * 4 * FIRST_REST);
  });

  it.each([0, QUICK_SYNC_MS])("begins with the shortest rest again after one of %s ms", (quick) => {
    const world = atTime();
    for (let n = 0; n < 9; n += 1) restAfter(world, 1);
    world.pace.took(quick);
    expect(world.pace.isQuick()).toBe(true);
    expect(restAfter(world, 1)).toBe(FIRST_REST);
    expect(restAfter(world, 1)).toBe(2 * FIRST_REST);
  });

  it("does not forget a slow one for a quick one", () => {
    const { pace, pass } = atTime();
    pace.took(5);
    pace.took(QUICK_SYNC_MS);
    pass(5 * FIRST_REST - 1);
    expect(pace.isQuick()).toBe(false);
    pass(1);
    expect(pace.isQuick()).toBe(true);
  });

  it("leaves next to none of the time to a disk that is always slow, and a twentieth to one that is so now and then", () => {
    expect(shareOf(() => 10)).toBeLessThan(1 / 1_000);
    expect(shareOf((n) => (n % 2 === 0 ? JUST_SLOW_MS : 0))).toBeLessThanOrEqual(1 / FIRST_REST);
    expect(shareOf((n) => (n % 7) * 3)).toBeLessThanOrEqual(1 / FIRST_REST);
    // Quick ones are done at once, however many there are.
    expect(shareOf(() => QUICK_SYNC_MS)).toBe(1);
  });
});

type World = ReturnType<typeof atTime>;

/** How many ms pass until it is quick again after one that took so long. */
function restAfter({ pace, pass }: World, ms: number): number {
  expect(pace.isQuick()).toBe(true);
  pace.took(ms);
  let rest = 0;
  while (!pace.isQuick()) {
    pass(1);
    rest += 1;
  }
  return rest;
}

/** What part of the time a process stands still that syncs without a pause; the nth sync takes so long. */
function shareOf(msOf: (n: number) => number): number {
  const { pace, pass } = atTime();
  let stood = 0;
  let passed = 0;
  for (let n = 0; n < 200; n += 1) {
    while (!pace.isQuick()) {
      pass(1);
      passed += 1;
    }
    const ms = msOf(n);
    pass(ms);
    pace.took(ms);
    stood += ms;
    passed += ms;
  }
  return stood / passed;
}

function atTime() {
  let now = 0;
  return {
    pace: createSyncPace(() => now),
    pass: (ms: number) => {
      now += ms;
    },
  };
}
