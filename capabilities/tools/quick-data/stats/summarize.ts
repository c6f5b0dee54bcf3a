import { z } from "zod";
import type { Column } from "../data/columns.ts";
import type { Database, Row } from "../data/database.ts";
import { numberOf } from "../data/open-dataset.ts";
import { nameOf } from "../data/sql.ts";

/** So many columns are asked about at once. */
const BATCH = 100;

export const NumberSummary = z.object({
  column: z.string(),
  count: z.int(),
  mean: z.number().nullable(),
  /** Of a sample: divided by one less than the count. */
  standardDeviation: z.number().nullable(),
  min: z.number().nullable(),
  q1: z.number().nullable(),
  median: z.number().nullable(),
  q3: z.number().nullable(),
  max: z.number().nullable(),
  /** Above 0: a long tail to the right. */
  skewness: z.number().nullable(),
});
export type NumberSummary = z.infer<typeof NumberSummary>;

export async function summarizeNumbers(database: Database, columns: readonly Column[]): Promise<NumberSummary[]> {
  const found: NumberSummary[] = [];
  for (let from = 0; from < columns.length; from += BATCH) {
    const batch = columns.slice(from, from + BATCH);
    const numbers = batch.map((column, at) => `${numberOf(column)} AS v${String(at)}`);
    const asked = batch.flatMap((_, at) => measuresOf(`v${String(at)}`));
    const row = await database.row(`SELECT ${asked.join(", ")} FROM (SELECT ${numbers.join(", ")} FROM data)`);
    found.push(...batch.map(({ name }, at) => summaryAt(row, name, `v${String(at)}`)));
  }
  return found;
}

function measuresOf(value: string): string[] {
  return [
    `count(${value}) AS ${value}_count`,
    `avg(${value}) AS ${value}_mean`,
    `stddev_samp(${value}) AS ${value}_deviation`,
    `min(${value}) AS ${value}_min`,
    `quantile_cont(${value}, 0.25) AS ${value}_q1`,
    `quantile_cont(${value}, 0.5) AS ${value}_median`,
    `quantile_cont(${value}, 0.75) AS ${value}_q3`,
    `max(${value}) AS ${value}_max`,
    `skewness(${value}) AS ${value}_skewness`,
  ];
}

function summaryAt(row: Row, column: string, value: string): NumberSummary {
  const at = (measure: string): number | null => {
    const found = row[`${value}_${measure}`];
    return typeof found === "number" ? found : null;
  };
  return {
    column,
    count: at("count") ?? 0,
    mean: at("mean"),
    standardDeviation: at("deviation"),
    min: at("min"),
    q1: at("q1"),
    median: at("median"),
    q3: at("q3"),
    max: at("max"),
    skewness: at("skewness"),
  };
}

export const ValueCount = z.object({ value: z.string(), count: z.int(), share: z.number() });

/** The most frequent values, those of one frequency in their order. */
export async function topValues(
  database: Database,
  column: Column,
  limit: number,
): Promise<z.infer<typeof ValueCount>[]> {
  const value = `left(CAST(${nameOf(column.name)} AS VARCHAR), ${String(MAX_VALUE_LENGTH)})`;
  const rows = await database.rows(
    `SELECT value, n, n / sum(n) OVER () AS share FROM (SELECT ${value} AS value, count(*) AS n FROM data WHERE ${nameOf(column.name)} IS NOT NULL GROUP BY value)
     ORDER BY n DESC, value LIMIT ${String(limit)}`,
  );
  return rows.map((row) => ({ value: String(row["value"]), count: Number(row["n"]), share: Number(row["share"]) }));
}

const MAX_VALUE_LENGTH = 200;
