import { z } from "zod";
import { Pair } from "../stats/correlate.ts";

export const Correlations = z.object({
  datasetName: z.string(),
  method: z.enum(["pearson", "spearman"]),
  rowCount: z.int(),
  /** Of rows and columns of the matrix. */
  columns: z.array(z.string()),
  matrix: z.array(z.array(z.number().nullable())),
  /** Those of at least the asked size, strongest first. */
  pairs: z.array(Pair),
  pairCount: z.int(),
  /** Numerical columns beyond the limit. */
  leftOut: z.array(z.string()),
  explanation: z.string(),
  suggestions: z.array(z.string()),
  /** The suggestions in one text. */
  advice: z.string(),
});
