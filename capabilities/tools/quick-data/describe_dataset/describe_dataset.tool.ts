import { z } from "zod";
import { Column } from "../data/columns.ts";
import { DatasetArgument, dataTool } from "../data/data-tool.ts";
import { withDataset } from "../data/open-dataset.ts";
import { SourceState, sourceState } from "../data/source-state.ts";
import { nameOf } from "../data/sql.ts";
import { NumberSummary, summarizeNumbers, topValues, ValueCount } from "../stats/summarize.ts";

/** Columns that are looked at closely; the others are named. */
export const MAX_DESCRIBED = 100;
const MAX_CELL_LENGTH = 100;

export const { definition, implementation } = dataTool({
  name: "describe_dataset",
  title: "Describe a dataset",
  description: `Says what is in a dataset: its columns with their roles, the usual figures of numbers, the most frequent values of categories, the span of dates, and a few rows. Looks closely at ${String(MAX_DESCRIBED)} columns at most.`,
  args: z.strictObject({
    dataset: DatasetArgument,
    rows: z.int().min(0).max(50).default(5).describe("How many rows to show"),
  }),
  output: z.object({
    datasetName: z.string(),
    rowCount: z.int(),
    columns: z.array(Column),
    numbers: z.array(NumberSummary),
    categories: z.array(z.object({ column: z.string(), distinct: z.int(), top: z.array(ValueCount) })),
    times: z.array(z.object({ column: z.string(), first: z.string().nullable(), last: z.string().nullable() })),
    firstRows: z.array(z.record(z.string(), z.string().nullable())),
    sourceState: SourceState,
    summary: z.string(),
  }),
  effects: "read",
  run: async ({ dataset: argument, rows }, run) =>
    withDataset(run, argument, async ({ dataset, database, columns }) => {
      const close = columns.slice(0, MAX_DESCRIBED);
      const of = (role: Column["role"]): readonly Column[] => close.filter((column) => column.role === role);
      const categories = [];
      for (const column of of("categorical")) {
        categories.push({ column: column.name, distinct: column.distinct, top: await topValues(database, column, 10) });
      }
      const times = [];
      for (const { name } of of("temporal")) {
        const { first, last } = await database.row(
          `SELECT CAST(min(${nameOf(name)}) AS VARCHAR) AS first, CAST(max(${nameOf(name)}) AS VARCHAR) AS last FROM data`,
        );
        times.push({ column: name, first: textOrNull(first), last: textOrNull(last) });
      }
      const shown = close.map(
        ({ name }) => `left(CAST(${nameOf(name)} AS VARCHAR), ${String(MAX_CELL_LENGTH)}) AS ${nameOf(name)}`,
      );
      const firstRows = await database.rows(`SELECT ${shown.join(", ")} FROM data LIMIT ${String(rows)}`);
      const counts = (["numerical", "categorical", "temporal", "identifier"] as const)
        .map((role) => ({ role, count: columns.filter((column) => column.role === role).length }))
        .filter(({ count }) => count > 0)
        .map(({ role, count }) => `${String(count)} ${role}`);
      return {
        datasetName: dataset.datasetName,
        rowCount: dataset.rowCount,
        columns: [...columns],
        numbers: await summarizeNumbers(database, of("numerical")),
        categories,
        times,
        firstRows: firstRows.map((row) =>
          Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, textOrNull(cell)])),
        ),
        sourceState: await sourceState(run, dataset.source),
        summary: `${dataset.datasetName}: ${String(dataset.rowCount)} rows, ${String(columns.length)} columns (${counts.join(", ")}).`,
      };
    }),
});

function textOrNull(cell: unknown): string | null {
  return typeof cell === "string" ? cell : null;
}
