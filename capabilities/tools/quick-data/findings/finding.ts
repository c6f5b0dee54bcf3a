import { z } from "zod";
import { Verdict } from "../stats/compare-segments.ts";
import { Pair } from "../stats/correlate.ts";

/** A correlation, and what becomes of it within the groups that say most about it. */
export const Finding = z.object({
  /** From 1: how people name it. */
  number: z.int().positive(),
  ...Pair.shape,
  /** The column whose groups say most; null where there are no groups. */
  by: z.string().nullable(),
  verdict: Verdict.nullable(),
  segments: z.array(z.object({ value: z.string(), r: z.number().nullable(), n: z.int() })),
  /** The column to colour its picture by: where the groups change what it says. */
  colorBy: z.string().nullable(),
  headline: z.string(),
  sentence: z.string(),
});
export type Finding = z.infer<typeof Finding>;
