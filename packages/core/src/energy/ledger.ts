import type { EnergyRow } from "../schema/energy.ts";
import { fromMicro, toMicro } from "./units.ts";

/** Rows that wait for a commit; past this many they are added up by cause, so that nothing goes unexplained. */
export const MAX_PENDING_ROWS = 1_000;

export type EnergyLedger = {
  readonly append: (row: EnergyRow) => void;
  /** The rows since the last call, for a commit; they are the caller's from then on. */
  readonly take: () => readonly EnergyRow[];
};

/** Collects spend rows between two commits. Neighbouring replenishments become one row. */
export function createEnergyLedger(): EnergyLedger {
  let rows: EnergyRow[] = [];
  return {
    append(row) {
      const last = rows.length - 1;
      if (row.cause === "replenish" && rows[last]?.cause === "replenish") return addTo(last, row);
      if (rows.length < MAX_PENDING_ROWS) rows.push(row);
      else addUp(row);
    },
    take() {
      const taken = rows;
      rows = [];
      return taken;
    },
  };

  function addUp(row: EnergyRow): void {
    const { at, cause, units } = row;
    const same = rows.findIndex((other) => other.cause === cause && other.toolId === row.toolId);
    const alike = same >= 0 ? same : rows.findIndex((other) => other.cause === cause);
    if (alike < 0) rows.push({ at, cause, units });
    else addTo(alike, row);
  }

  function addTo(index: number, row: EnergyRow): void {
    const into = rows[index];
    if (into === undefined) return;
    const { reference: _, toolId, ...rest } = into;
    const units = fromMicro(toMicro(into.units) + toMicro(row.units));
    rows[index] = { ...rest, at: row.at, units, ...(toolId !== undefined && toolId === row.toolId ? { toolId } : {}) };
  }
}
