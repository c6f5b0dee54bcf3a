import { z } from "zod";
import { numeric, temporal } from "../data/columns-wanted.ts";
import { dataError } from "../data/data-error.ts";
import { DatasetArgument, dataTool } from "../data/data-tool.ts";
import { type OpenedDataset, withDataset } from "../data/open-dataset.ts";
import type { Column } from "../data/columns.ts";
import { gapsIn, placeOf } from "../stats/periods.ts";
import { Period, type Series, timeSeries } from "../stats/time-buckets.ts";
import { autocorrelation, trendOf } from "../stats/trend.ts";

const MAX_GAPS = 100;
/** The rhythm that people live by, for each period. */
const SEASONS: Readonly<Record<Period, number>> = { hour: 24, day: 7, week: 52, month: 12, year: 10 };

export const { definition, implementation } = dataTool({
  name: "time_series_analysis",
  title: "Analyze a time series",
  description:
    "Puts a column of numbers, or the count of rows, on a time line by hour, day, week, month or year: its points, gaps without any row, its trend, and whether it repeats.",
  args: z.strictObject({
    dataset: DatasetArgument,
    time: z.string().nullable().default(null).describe("The column with dates; the first one if absent"),
    value: z.string().nullable().default(null).describe("The column of numbers; rows are counted if absent"),
    period: Period.nullable().default(null).describe("As fine as is readable if absent"),
  }),
  output: z.object({
    datasetName: z.string(),
    time: z.string(),
    value: z.string().nullable(),
    period: Period,
    points: z.array(
      z.object({ period: z.string(), rows: z.int(), mean: z.number().nullable(), sum: z.number().nullable() }),
    ),
    /** Periods without any row between two that have some. */
    gaps: z.array(z.object({ after: z.string(), before: z.string(), periods: z.int() })),
    missingPeriods: z.int(),
    /** Least squares over the periods; null with fewer than three points. */
    trend: z.object({ slopePerPeriod: z.number(), rSquared: z.number() }).nullable(),
    /** How it goes with itself one season earlier. */
    season: z.object({ periods: z.int(), r: z.number().nullable() }),
    summary: z.string(),
  }),
  effects: "pure",
  run: async ({ dataset: argument, time: timeName, value: valueName, period: asked }, run) =>
    withDataset(run, argument, async (opened) => {
      const time = timeColumn(opened, timeName);
      const value = valueName === null ? undefined : numeric(opened.column(valueName));
      const series = await timeSeries(opened.database, time, value, asked ?? undefined);
      const { period, points } = series;
      const gaps = gapsIn(period, points);
      const missingPeriods = gaps.reduce((sum, { periods }) => sum + periods, 0);
      const placed = placedValues(series, value !== undefined);
      const trend = trendOf(placed);
      const periods = SEASONS[period];
      const found = { missingPeriods, trend, period, points: points.length };
      return {
        datasetName: opened.dataset.datasetName,
        time: time.name,
        value: value?.name ?? null,
        period,
        points: [...points],
        gaps: gaps.slice(0, MAX_GAPS),
        missingPeriods,
        trend: trend === null ? null : { slopePerPeriod: trend.slope, rSquared: trend.rSquared },
        season: { periods, r: autocorrelation(onOneLine(placed), periods) },
        summary: summaryOf(value?.name ?? "the number of rows", found),
      };
    }),
});

function timeColumn({ columns, column }: OpenedDataset, name: string | null): Column {
  if (name !== null) return temporal(column(name));
  const first = columns.find(({ type }) => type === "date" || type === "timestamp");
  if (first === undefined)
    throw dataError("column_unfit", "This dataset has no column of dates to put on a time line.");
  return first;
}

function placedValues({ period, points }: Series, hasValue: boolean): [number, number][] {
  return points.flatMap((point): [number, number][] => {
    const value = hasValue ? point.mean : point.rows;
    return value === null ? [] : [[placeOf(period, point.period), value]];
  });
}

/** Nulls where a period has nothing, so that a season earlier is a season earlier. */
function onOneLine(placed: readonly (readonly [number, number])[]): (number | null)[] {
  const [first, last] = [placed[0]?.[0] ?? 0, placed.at(-1)?.[0] ?? -1];
  const known = new Map(placed);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => known.get(first + at) ?? null);
}

type Said = {
  readonly period: Period;
  readonly points: number;
  readonly missingPeriods: number;
  readonly trend: { readonly slope: number; readonly rSquared: number } | null;
};

function summaryOf(what: string, { period, points, missingPeriods, trend }: Said): string {
  const gap = missingPeriods === 0 ? "no gaps" : `${String(missingPeriods)} without any row in between`;
  const clear = trend !== null && trend.rSquared >= 0.1;
  const direction = clear ? (trend.slope > 0 ? "rises" : "falls") : "has no clear trend";
  const size = clear ? ` by ${Math.abs(trend.slope).toPrecision(3)} per ${period}` : "";
  return `${String(points)} ${period}s, ${gap}; ${what} ${direction}${size}.`;
}
