import { z } from "zod";
import { ColumnNames, DatasetArgument } from "../data/data-tool.ts";

export const CHART_KINDS = ["scatter", "histogram", "bar", "line", "box", "matrix"] as const;

export const ChartArguments = z.strictObject({
  dataset: DatasetArgument,
  kind: z.enum(CHART_KINDS).describe("matrix shows the correlations between numerical columns"),
  x: z
    .string()
    .optional()
    .describe("The column along x: numbers for scatter and histogram, groups for bar and box, dates for line"),
  y: z.string().optional().describe("The column of numbers along y; without it bar and line count rows"),
  color: z.string().nullable().optional().describe("For scatter: the column whose values colour the points"),
  columns: ColumnNames.optional().describe("For matrix: which columns"),
  title: z.string().max(200).optional(),
});
export type ChartArguments = z.output<typeof ChartArguments>;
