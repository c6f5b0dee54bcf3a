import { z } from "zod";
import { Verdict } from "../stats/compare-segments.ts";

const Measure = z.object({
  column: z.string(),
  n: z.int(),
  mean: z.number().nullable(),
  median: z.number().nullable(),
});

export const Segmentation = z.object({
  datasetName: z.string(),
  by: z.string(),
  /** The largest first; a group without a value is "(missing)". */
  segments: z.array(
    z.object({
      value: z.string(),
      rows: z.int(),
      share: z.number(),
      measures: z.array(Measure),
      /** Of the pair within this group. */
      r: z.number().nullable(),
      n: z.int(),
    }),
  ),
  /** Groups beyond the limit. */
  others: z.object({ segments: z.int(), rows: z.int() }),
  /** What becomes of a correlation within the groups. */
  pair: z
    .object({
      x: z.string(),
      y: z.string(),
      pooled: z.number().nullable(),
      n: z.int(),
      verdict: Verdict,
      sentence: z.string(),
    })
    .nullable(),
});
