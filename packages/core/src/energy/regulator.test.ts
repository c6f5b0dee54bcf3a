import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSimulatedClock } from "../../testing/simulated-clock.ts";
import type { Clock } from "../ports/clock.ts";
import type { EnergyRow } from "../schema/energy.ts";
import {
  EnergyRegulator,
  MAX_AMOUNT,
  MAX_LEVEL,
  MAX_RESERVATIONS,
  MIN_LEVEL,
  statusAt,
  type Reservation,
} from "./regulator.ts";
import { toMicro } from "./units.ts";

describe("EnergyRegulator", () => {
  it("starts full, spends, and comes back with rest", () => {
    const clock = timeOf(0);
    const regulator = new EnergyRegulator({ clock });
    expect(regulator.state()).toEqual({ level: 100, status: "high", reserved: 0, replenishPerSecond: 1 });
    regulator.consumeEnergy(60, { cause: "tool", toolId: "demo::add" });
    expect(regulator.getEnergy()).toBe(40);
    expect(regulator.getStatus()).toBe("medium");
    clock.pass(10_000);
    expect(regulator.getEnergy()).toBe(50);
    expect(regulator.takeRows()).toMatchObject([
      { cause: "tool", toolId: "demo::add", units: 60 },
      { cause: "replenish", units: -10 },
    ]);
    expect(regulator.takeRows()).toEqual([]);
  });

  it("has the spec's statuses at their borders", () => {
    expect([51, 50, 21, 20, 1, 0, -50].map(statusAt)).toEqual([
      "high",
      "medium",
      "medium",
      "low",
      "low",
      "urgent",
      "urgent",
    ]);
  });

  it("does not rest while work is under way (R4)", () => {
    const clock = timeOf(0);
    const regulator = new EnergyRegulator({ clock, level: 10 });
    const reservation = granted(regulator, 5);
    clock.pass(60_000);
    expect(regulator.getEnergy()).toBe(10);
    regulator.settle(reservation, 3, { cause: "model" });
    expect(regulator.getEnergy()).toBe(7);
    clock.pass(1_000);
    expect(regulator.getEnergy()).toBe(8);
  });

  it("explains a spend that does not fit into the range by two rows (R3)", () => {
    const regulator = new EnergyRegulator({ clock: timeOf(0), level: -40 });
    regulator.consumeEnergy(25, { cause: "subagent", reference: "r1" });
    expect(regulator.getEnergy()).toBe(MIN_LEVEL);
    expect(regulator.takeRows()).toMatchObject([
      { cause: "subagent", units: 25, reference: "r1" },
      { cause: "adjustment", units: -15, reference: "r1" },
    ]);
  });

  it("grants what reaches down to the lowest level, and not a millionth more (R2)", () => {
    const regulator = new EnergyRegulator({ clock: timeOf(0), level: 0 });
    expect(regulator.reserve(50.000_001)).toBeUndefined();
    granted(regulator, 30);
    granted(regulator, 20);
    expect(regulator.reserve(0.000_001)).toBeUndefined();
  });

  it("has a bound on open reservations", () => {
    const regulator = new EnergyRegulator({ clock: timeOf(0) });
    for (let i = 0; i < MAX_RESERVATIONS; i += 1) granted(regulator, 0);
    expect(regulator.reserve(0)).toBeUndefined();
  });

  it("refuses what is no amount, and a reservation that is not open (R5)", () => {
    const regulator = new EnergyRegulator({ clock: timeOf(0), level: 50 });
    for (const units of [-1, Number.NaN, Number.POSITIVE_INFINITY, MAX_AMOUNT + 1]) {
      expect(() => regulator.consumeEnergy(units)).toThrow(/from 0 to/);
      expect(() => regulator.reserve(units)).toThrow(/from 0 to/);
    }
    const reservation = granted(regulator, 1);
    expect(() => regulator.settle(reservation, Number.NaN, { cause: "tool" })).toThrow(/from 0 to/);
    regulator.settle(reservation, 0, { cause: "tool" });
    expect(() => regulator.settle(reservation, 0, { cause: "tool" })).toThrow(/not open/);
    expect(regulator.takeRows()).toEqual([]);
    expect(regulator.getEnergy()).toBe(50);
  });

  it("loses nothing to a loop that looks often", () => {
    const clock = timeOf(0);
    const regulator = new EnergyRegulator({ clock, level: 0 });
    for (let i = 0; i < 10_000; i += 1) {
      clock.pass(0.333);
      regulator.getEnergy();
    }
    expect(regulator.getEnergy()).toBeCloseTo(3.33, 5);
  });

  it("keeps its invariants whatever happens in whatever order", () => {
    const amount = fc.oneof(fc.double({ min: 0, max: 200, noNaN: true }), fc.integer({ min: 0, max: 60 }));
    const move = fc.oneof(
      fc.record({ kind: fc.constant("spend" as const), units: amount }),
      fc.record({ kind: fc.constant("reserve" as const), units: amount }),
      fc.record({ kind: fc.constant("settle" as const), units: amount, which: fc.nat(5) }),
      fc.record({ kind: fc.constant("rest" as const), ms: fc.double({ min: 0, max: 100_000, noNaN: true }) }),
      fc.record({ kind: fc.constant("take" as const) }),
    );
    fc.assert(
      fc.property(fc.integer({ min: MIN_LEVEL, max: MAX_LEVEL }), fc.array(move, { maxLength: 60 }), (level, moves) => {
        const clock = timeOf(0);
        const regulator = new EnergyRegulator({ clock, level });
        const open: Reservation[] = [];
        let wrongAnswers = 0;
        const rows: EnergyRow[] = [];
        for (const next of moves) {
          if (next.kind === "spend") regulator.consumeEnergy(next.units, { cause: "tool" });
          else if (next.kind === "rest") clock.pass(next.ms);
          else if (next.kind === "take") rows.push(...regulator.takeRows());
          else if (next.kind === "reserve") {
            const { level: before, reserved } = regulator.state();
            const reservation = regulator.reserve(next.units);
            const covered = toMicro(before) - toMicro(reserved) - toMicro(next.units) >= toMicro(MIN_LEVEL);
            if ((reservation !== undefined) !== covered) wrongAnswers += 1;
            if (reservation !== undefined) open.push(reservation);
          } else {
            const [reservation] = open.splice(next.which, 1);
            if (reservation !== undefined) regulator.settle(reservation, next.units, { cause: "model" });
          }
          const now = regulator.state();
          expect(now.level).toBeGreaterThanOrEqual(MIN_LEVEL);
          expect(now.level).toBeLessThanOrEqual(MAX_LEVEL);
          expect(toMicro(now.reserved)).toBe(open.reduce((sum, { units }) => sum + toMicro(units), 0));
        }
        expect(wrongAnswers).toBe(0);
        rows.push(...regulator.takeRows());
        const spent = rows.reduce((sum, { units }) => sum + toMicro(units), 0);
        expect(toMicro(level) - spent).toBe(toMicro(regulator.getEnergy()));
      }),
    );
  });
});

function granted(regulator: EnergyRegulator, units: number): Reservation {
  const reservation = regulator.reserve(units);
  if (reservation === undefined) throw new Error(`${String(units)} units were not granted`);
  return reservation;
}

/** A clock of which a test moves the time freely. */
function timeOf(startMs: number): Clock & { readonly pass: (ms: number) => void } {
  let nowMs = startMs;
  return { ...createSimulatedClock(), now: () => nowMs, monotonic: () => nowMs, pass: (ms) => (nowMs += ms) };
}
