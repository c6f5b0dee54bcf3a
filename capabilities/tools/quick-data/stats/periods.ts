import type { Period, Point } from "./time-buckets.ts";

/** The place of a period on an unbroken count of periods. */
export function placeOf(period: Period, at: string): number {
  const date = new Date(`${at}Z`);
  switch (period) {
    case "hour":
      return Math.round(date.getTime() / 3_600_000);
    case "day":
      return Math.round(date.getTime() / 86_400_000);
    case "week":
      return Math.round(date.getTime() / (7 * 86_400_000));
    case "month":
      return date.getUTCFullYear() * 12 + date.getUTCMonth();
    case "year":
      return date.getUTCFullYear();
  }
}

export type Gap = { readonly after: string; readonly before: string; readonly periods: number };

/** Where periods without a single row lie between two that have some. */
export function gapsIn(period: Period, points: readonly Point[]): Gap[] {
  return points.slice(1).flatMap((point, at) => {
    const earlier = points[at];
    if (earlier === undefined) return [];
    const periods = placeOf(period, point.period) - placeOf(period, earlier.period) - 1;
    return periods > 0 ? [{ after: earlier.period, before: point.period, periods }] : [];
  });
}
