import { z } from "zod";
import type { Column } from "../data/columns.ts";
import type { Database } from "../data/database.ts";
import { dataError } from "../data/data-error.ts";
import { numberOf } from "../data/open-dataset.ts";
import { nameOf } from "../data/sql.ts";

export const Period = z.enum(["hour", "day", "week", "month", "year"]);
export type Period = z.infer<typeof Period>;

/** A series has this many points at most; a finer period is refused. */
export const MAX_POINTS = 2_000;
/** The finest period that gives no more points than a chart shows well. */
const READABLE_POINTS = 370;

const PERIOD_DAYS: Readonly<Record<Period, number>> = { hour: 1 / 24, day: 1, week: 7, month: 30.44, year: 365.25 };

export type Point = {
  readonly period: string;
  readonly rows: number;
  readonly mean: number | null;
  readonly sum: number | null;
};

export type Series = { readonly period: Period; readonly points: readonly Point[] };

/** Rows by period of a temporal column, with a column's mean and sum; periods without rows are not in it. */
export async function timeSeries(
  database: Database,
  time: Column,
  value: Column | undefined,
  asked: Period | undefined,
): Promise<Series> {
  const at = `CAST(${nameOf(time.name)} AS TIMESTAMP)`;
  const { days } = await database.row(`SELECT (epoch(max(${at})) - epoch(min(${at}))) / 86400 AS days FROM data`);
  if (typeof days !== "number") throw dataError("column_unfit", `"${time.name}" has no dates in it.`);
  const period = asked ?? readablePeriod(days, time);
  if (days / PERIOD_DAYS[period] > MAX_POINTS) {
    throw dataError(
      "column_unfit",
      `"${time.name}" covers ${String(Math.round(days))} days: by ${period} that is more than ${String(MAX_POINTS)} points. Ask for a longer period.`,
    );
  }
  const number = value === undefined ? "NULL" : numberOf(value);
  const rows = await database.rows(
    `SELECT strftime(date_trunc('${period}', ${at}), '%Y-%m-%dT%H:%M:%S') AS period, count(*) AS rows,
            avg(${number}) AS mean, sum(${number}) AS sum
     FROM data WHERE ${nameOf(time.name)} IS NOT NULL GROUP BY period ORDER BY period`,
  );
  const points = rows.map((row) => ({
    period: String(row["period"]),
    rows: Number(row["rows"]),
    mean: typeof row["mean"] === "number" ? row["mean"] : null,
    sum: typeof row["sum"] === "number" ? row["sum"] : null,
  }));
  return { period, points };
}

function readablePeriod(days: number, { type }: Column): Period {
  const finest = type === "date" ? Period.options.slice(1) : Period.options;
  return finest.find((period) => days / PERIOD_DAYS[period] <= READABLE_POINTS) ?? "year";
}
