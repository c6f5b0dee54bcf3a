import { setImmediate } from "node:timers/promises";
import type { EnergyTotals } from "@ergon/core/store-kit";
import type { Reader } from "../database/reader.ts";

/** Rows looked at in one go where no index helps; then others get their turn. */
export const SCAN_ROWS = 20_000;

/** A session's own sums are kept with it; others are added up, a stretch of the ledger at a time. */
export async function readEnergy(
  { all }: Reader,
  filter: { readonly n?: number; readonly owner?: string },
): Promise<EnergyTotals> {
  const { n, owner } = filter;
  if (n !== undefined && owner === undefined) {
    const [row] = all<EnergyTotals>("SELECT energy_units AS units, energy_rows AS rows FROM sessions WHERE n = ?", n);
    return { units: row?.units ?? 0, rows: row?.rows ?? 0 };
  }
  const [end] = all<{ readonly id: number | null }>("SELECT max(id) AS id FROM energy");
  const conditions = `${n === undefined ? "" : " AND session_n = ?"}${owner === undefined ? "" : " AND owner = ?"}`;
  const values = [...(n === undefined ? [] : [n]), ...(owner === undefined ? [] : [owner])];
  let total: EnergyTotals = { units: 0, rows: 0 };
  for (let from = 0; from < (end?.id ?? 0); from += SCAN_ROWS) {
    if (from > 0) await setImmediate();
    const [part] = all<{ readonly units: number | null; readonly rows: number | null }>(
      `SELECT sum(units) AS units, count(*) AS rows FROM energy WHERE id > ? AND id <= ?${conditions}`,
      from,
      from + SCAN_ROWS,
      ...values,
    );
    total = { units: total.units + (part?.units ?? 0), rows: total.rows + (part?.rows ?? 0) };
  }
  return total;
}
