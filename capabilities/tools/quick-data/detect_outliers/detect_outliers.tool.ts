import { z } from "zod";
import { columnsWanted } from "../data/columns-wanted.ts";
import { ColumnNames, DatasetArgument, dataTool } from "../data/data-tool.ts";
import { numberOf, withDataset } from "../data/open-dataset.ts";
import { type NumberSummary, summarizeNumbers } from "../stats/summarize.ts";

const MAX_LOOKED_AT = 100;

export const { definition, implementation } = dataTool({
  name: "detect_outliers",
  title: "Detect outliers",
  description:
    "Finds numbers far from the rest of their column: beyond 1.5 times the middle half's width (iqr), or more than 3 standard deviations from the mean (zscore).",
  args: z.strictObject({
    dataset: DatasetArgument,
    columns: ColumnNames.max(MAX_LOOKED_AT).optional().describe("Which columns; all numerical ones if absent"),
    method: z.enum(["iqr", "zscore"]).default("iqr"),
    threshold: z
      .number()
      .positive()
      .max(100)
      .nullable()
      .default(null)
      .describe("How far is far; 1.5 for iqr, 3 for zscore if absent"),
    examples: z.int().min(0).max(100).default(10).describe("How many to show for each column, farthest first"),
  }),
  output: z.object({
    datasetName: z.string(),
    method: z.enum(["iqr", "zscore"]),
    threshold: z.number(),
    columns: z.array(
      z.object({
        column: z.string(),
        count: z.int(),
        share: z.number(),
        /** What lies outside is far. Null where nothing can be said. */
        low: z.number().nullable(),
        high: z.number().nullable(),
        /** `row` counts from 1, without the line of names. */
        examples: z.array(z.object({ row: z.int(), value: z.number() })),
      }),
    ),
    total: z.int(),
    summary: z.string(),
  }),
  effects: "pure",
  run: async ({ dataset: argument, columns: names, method, threshold: asked, examples }, run) =>
    withDataset(run, argument, async (opened) => {
      const threshold = asked ?? (method === "iqr" ? 1.5 : 3);
      const columns = columnsWanted(opened, names, "numerical").slice(0, MAX_LOOKED_AT);
      const summaries = await summarizeNumbers(opened.database, columns);
      const found = [];
      for (const [at, column] of columns.entries()) {
        const summary = summaries[at];
        const bounds = summary === undefined ? undefined : boundsOf(summary, method, threshold);
        const none = { column: column.name, count: 0, share: 0, low: null, high: null, examples: [] };
        if (bounds === undefined || summary === undefined) {
          found.push(none);
          continue;
        }
        const { low, high } = bounds;
        const rows = await opened.database.rows(
          `SELECT row, v, count(*) OVER () AS n FROM (SELECT row_number() OVER () AS row, ${numberOf(column)} AS v FROM data)
           WHERE v < $1 OR v > $2 ORDER BY greatest($1 - v, v - $2) DESC, row LIMIT ${String(Math.max(1, examples))}`,
          [low, high],
        );
        const count = Number(rows[0]?.["n"] ?? 0);
        const shown = rows.slice(0, examples).map((row) => ({ row: Number(row["row"]), value: Number(row["v"]) }));
        const share = summary.count === 0 ? 0 : count / summary.count;
        found.push({ column: column.name, count, share, low, high, examples: shown });
      }
      const total = found.reduce((sum, { count }) => sum + count, 0);
      return {
        datasetName: opened.dataset.datasetName,
        method,
        threshold,
        columns: found,
        total,
        summary: summaryOf(found, total),
      };
    }),
});

function summaryOf(found: readonly { readonly column: string; readonly count: number }[], total: number): string {
  const named = found.filter(({ count }) => count > 0).map(({ column, count }) => `${column} ${String(count)}`);
  return total === 0 ? "No value lies far from the others." : `Values far from the others: ${named.join(", ")}.`;
}

function boundsOf(
  { mean, standardDeviation, q1, q3 }: NumberSummary,
  method: "iqr" | "zscore",
  threshold: number,
): { readonly low: number; readonly high: number } | undefined {
  if (method === "iqr") {
    if (q1 === null || q3 === null) return undefined;
    return { low: q1 - threshold * (q3 - q1), high: q3 + threshold * (q3 - q1) };
  }
  if (mean === null || standardDeviation === null) return undefined;
  return { low: mean - threshold * standardDeviation, high: mean + threshold * standardDeviation };
}
