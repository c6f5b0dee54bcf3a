import { z } from "zod";
import { ColumnNames, DatasetArgument, dataTool } from "../data/data-tool.ts";
import type { Column } from "../data/columns.ts";
import { columnsWanted } from "../data/columns-wanted.ts";
import { withDataset } from "../data/open-dataset.ts";
import { correlate, MAX_CORRELATED, type Pair } from "../stats/correlate.ts";
import { describePair } from "../stats/describe-pair.ts";
import { matrixOf } from "../stats/matrix-of.ts";
import { Correlations } from "./correlations.ts";
import { suggestionsFor } from "./suggestions.ts";

export const { definition, implementation } = dataTool({
  name: "find_correlations",
  title: "Find correlations",
  description: `Correlates every pair of numerical columns (at most ${String(MAX_CORRELATED)}) and lists the strongest pairs. With fewer than two such columns it explains what to do instead.`,
  args: z.strictObject({
    dataset: DatasetArgument,
    columns: ColumnNames.nullable().optional().describe("Which columns; all numerical ones if absent"),
    method: z.enum(["pearson", "spearman"]).default("pearson").describe("Of values, or of their ranks"),
    minimum: z.number().min(0).max(1).default(0.3).describe("The smallest size of a correlation worth listing"),
    limit: z.int().min(1).max(1_000).default(10).describe("How many pairs to list at most"),
  }),
  output: Correlations,
  effects: "pure",
  run: async ({ dataset: argument, columns: wanted, method, minimum, limit }, run) =>
    withDataset(run, argument, async (opened) => {
      const { dataset, database } = opened;
      const numerical = columnsWanted(opened, wanted ?? undefined, "numerical");
      const columns = numerical.slice(0, MAX_CORRELATED);
      const pairs = columns.length < 2 ? [] : await correlate(database, columns, method);
      const telling = pairs
        .filter(({ r }) => r !== null && Math.abs(r) >= minimum)
        .toSorted((a, b) => Math.abs(b.r ?? 0) - Math.abs(a.r ?? 0));
      return {
        datasetName: dataset.datasetName,
        method,
        rowCount: dataset.rowCount,
        columns: columns.map(({ name }) => name),
        matrix: matrixOf(
          columns.map(({ name }) => name),
          pairs,
        ),
        pairs: telling.slice(0, limit),
        pairCount: pairs.length,
        leftOut: numerical.slice(MAX_CORRELATED).map(({ name }) => name),
        explanation: explain({
          count: columns.length,
          passedOver: passedOver(opened.columns),
          pairs,
          telling,
          minimum,
        }),
        ...adviceOf(columns.length < 2 ? suggestionsFor(opened.columns) : []),
      };
    }),
});

function adviceOf(suggestions: string[]): { readonly suggestions: string[]; readonly advice: string } {
  return { suggestions, advice: suggestions.join(" ") };
}

/** Numbers that are taken for identifiers. */
function passedOver(columns: readonly Column[]): readonly string[] {
  return columns.filter(({ type, role }) => type === "integer" && role === "identifier").map(({ name }) => name);
}

type Explained = {
  readonly count: number;
  readonly passedOver: readonly string[];
  readonly pairs: readonly Pair[];
  readonly telling: readonly Pair[];
  readonly minimum: number;
};

function explain({ count, passedOver, pairs, telling, minimum }: Explained): string {
  if (count < 2) {
    const have = count === 0 ? "no column of numbers" : "only one column of numbers";
    const left =
      passedOver.length === 0
        ? ""
        : ` Taken for identifiers and left out: ${passedOver.join(", ")}. Name them in "columns" to correlate them all the same.`;
    return `A correlation needs two columns of numbers; this dataset has ${have}.${left}`;
  }
  const [first] = telling;
  if (first === undefined)
    return `None of the ${String(pairs.length)} pairs has a correlation of ${String(minimum)} or more.`;
  return `${String(telling.length)} of ${String(pairs.length)} pairs have a correlation of ${String(minimum)} or more; the strongest: ${describePair(first)}.`;
}
