import { z } from "zod";
import type { Column } from "../data/columns.ts";
import type { Database } from "../data/database.ts";
import { numberOf } from "../data/open-dataset.ts";

export const Bin = z.object({ from: z.number(), to: z.number(), count: z.int() });
export type Bin = z.infer<typeof Bin>;

/** Counts in bins of equal width from the smallest to the largest number; the last bin has its upper end in it. */
export async function histogram(database: Database, column: Column, bins: number): Promise<Bin[]> {
  const { low, high } = await database.row(
    `SELECT min(v) AS low, max(v) AS high FROM (SELECT ${numberOf(column)} AS v FROM data)`,
  );
  if (typeof low !== "number" || typeof high !== "number") return [];
  const width = (high - low) / bins;
  if (!(width > 0)) {
    const { n } = await database.row(`SELECT count(${numberOf(column)}) AS n FROM data`);
    return [{ from: low, to: high, count: Number(n) }];
  }
  const rows = await database.rows(
    `SELECT least(floor((v - $1) / $2), $3) AS bin, count(*) AS n
     FROM (SELECT ${numberOf(column)} AS v FROM data) WHERE v IS NOT NULL GROUP BY bin ORDER BY bin`,
    [low, width, bins - 1],
  );
  const counts = new Map(rows.map((row) => [Number(row["bin"]), Number(row["n"])]));
  return Array.from({ length: bins }, (_, at) => ({
    from: low + at * width,
    to: at === bins - 1 ? high : low + (at + 1) * width,
    count: counts.get(at) ?? 0,
  }));
}
