import { z } from "zod";
import { shown } from "./describe-pair.ts";

/** Segments with fewer rows say nothing about a correlation. */
export const MIN_SEGMENT_ROWS = 20;
/** Below this size a correlation has no direction to speak of. */
const NO_DIRECTION = 0.1;

/**
 * What becomes of a correlation within segments: it `holds`, it `reverses` in all of them, it `fades` to less than half,
 * it is `mixed`, or there are `too_few_rows` to tell.
 */
export const Verdict = z.enum(["holds", "reverses", "fades", "mixed", "too_few_rows"]);
export type Verdict = z.infer<typeof Verdict>;

export type SegmentCorrelation = { readonly value: string; readonly r: number | null; readonly n: number };

export function verdictOf(pooled: number | null, segments: readonly SegmentCorrelation[]): Verdict {
  const telling = segments.filter(({ r, n }) => r !== null && n >= MIN_SEGMENT_ROWS).map(({ r }) => r ?? 0);
  if (pooled === null || telling.length < 2) return "too_few_rows";
  const direction = Math.sign(pooled);
  const along = telling.map((r) => r * direction);
  if (Math.abs(pooled) >= NO_DIRECTION && along.every((r) => r <= -NO_DIRECTION)) return "reverses";
  const half = Math.abs(pooled) / 2;
  if (along.every((r) => r >= half)) return "holds";
  return along.every((r) => Math.abs(r) < half) ? "fades" : "mixed";
}

export function describeVerdict(verdict: Verdict, by: string, segments: readonly SegmentCorrelation[]): string {
  const telling = segments.filter(({ r, n }) => r !== null && n >= MIN_SEGMENT_ROWS);
  const listed = telling
    .slice(0, 6)
    .map(({ value, r }) => `${value} ${shown(r)}`)
    .join(", ");
  switch (verdict) {
    case "holds":
      return `It holds within every ${by} (${listed}).`;
    case "reverses":
      return `Careful: within every ${by} it is the other way round (${listed}). What the total shows comes from the differences between the groups.`;
    case "fades":
      return `Within each ${by} little of it is left (${listed}): most of it comes from the differences between the groups.`;
    case "mixed":
      return `It differs by ${by} (${listed}).`;
    case "too_few_rows":
      return `The groups of ${by} are too small to tell.`;
  }
}
