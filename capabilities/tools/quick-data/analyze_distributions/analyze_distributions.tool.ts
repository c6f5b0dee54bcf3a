import { z } from "zod";
import { ColumnNames, DatasetArgument, dataTool } from "../data/data-tool.ts";
import { withDataset } from "../data/open-dataset.ts";
import { Bin, histogram } from "../stats/histogram.ts";
import { NumberSummary, summarizeNumbers, topValues, ValueCount } from "../stats/summarize.ts";

const MAX_ANALYZED = 50;

export const { definition, implementation } = dataTool({
  name: "analyze_distributions",
  title: "Analyze distributions",
  description: `How the values of columns are spread: figures, shape and a histogram for numbers, the most frequent values for everything else. At most ${String(MAX_ANALYZED)} columns.`,
  args: z.strictObject({
    dataset: DatasetArgument,
    columns: ColumnNames.max(MAX_ANALYZED)
      .optional()
      .describe("Which columns; numerical and categorical ones if absent"),
    bins: z.int().min(2).max(200).default(20).describe("How many bins a histogram has"),
  }),
  output: z.object({
    datasetName: z.string(),
    numbers: z.array(z.object({ ...NumberSummary.shape, shape: z.string(), histogram: z.array(Bin) })),
    categories: z.array(
      z.object({ column: z.string(), distinct: z.int(), missing: z.int(), top: z.array(ValueCount) }),
    ),
  }),
  effects: "pure",
  run: async ({ dataset: argument, columns: names, bins }, run) =>
    withDataset(run, argument, async ({ dataset, database, columns, column }) => {
      const wanted =
        names?.map((name) => column(name)) ??
        columns.filter(({ role }) => role === "numerical" || role === "categorical");
      const looked = wanted.slice(0, MAX_ANALYZED);
      const numeric = looked.filter(({ type }) => type === "integer" || type === "number");
      const numbers = [];
      for (const [at, summary] of (await summarizeNumbers(database, numeric)).entries()) {
        const of = numeric[at];
        if (of !== undefined)
          numbers.push({ ...summary, shape: shapeOf(summary), histogram: await histogram(database, of, bins) });
      }
      const categories = [];
      for (const of of looked.filter((each) => !numeric.includes(each))) {
        const { name, distinct, missing } = of;
        categories.push({ column: name, distinct, missing, top: await topValues(database, of, 20) });
      }
      return { datasetName: dataset.datasetName, numbers, categories };
    }),
});

function shapeOf({ count, min, max, skewness }: NumberSummary): string {
  if (count === 0) return "no numbers";
  if (min === max) return "constant";
  if (skewness === null || Math.abs(skewness) < 0.5) return "roughly symmetric";
  const size = Math.abs(skewness) > 1 ? "strongly" : "somewhat";
  return `${size} skewed to the ${skewness > 0 ? "right" : "left"}`;
}
