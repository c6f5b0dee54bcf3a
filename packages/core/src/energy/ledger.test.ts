import { describe, expect, it } from "vitest";
import type { EnergyRow } from "../schema/energy.ts";
import { MAX_PENDING_ROWS, createEnergyLedger } from "./ledger.ts";

const at = "2026-01-01T00:00:00.000Z";

describe("the energy ledger", () => {
  it("hands its rows over once, in order", () => {
    const ledger = createEnergyLedger();
    const rows: EnergyRow[] = [
      { at, cause: "tool", units: 1, toolId: "a" },
      { at, cause: "model", units: 2 },
    ];
    for (const row of rows) ledger.append(row);
    expect(ledger.take()).toEqual(rows);
    expect(ledger.take()).toEqual([]);
  });

  it("makes one row of neighbouring replenishments", () => {
    const ledger = createEnergyLedger();
    for (const units of [-0.1, -0.2, -0.3]) ledger.append({ at, cause: "replenish", units });
    expect(ledger.take()).toEqual([{ at, cause: "replenish", units: -0.6 }]);
  });

  it("adds rows up by cause past its bound, and so still explains the sum", () => {
    const ledger = createEnergyLedger();
    for (let i = 0; i < MAX_PENDING_ROWS + 50; i += 1)
      ledger.append({ at, cause: "tool", units: 0.1, toolId: `t${String(i)}` });
    ledger.append({ at, cause: "model", units: 5 });
    const rows = ledger.take();
    expect(rows).toHaveLength(MAX_PENDING_ROWS + 1);
    expect(rows.filter(({ cause }) => cause === "model")).toEqual([{ at, cause: "model", units: 5 }]);
    const spent = rows.reduce((sum, { units }) => sum + Math.round(units * 1e6), 0);
    expect(spent).toBe((MAX_PENDING_ROWS + 50) * 100_000 + 5_000_000);
  });
});
