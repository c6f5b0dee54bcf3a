import { z } from "zod";
import { columnsWanted, numeric } from "../data/columns-wanted.ts";
import { ColumnNames, DatasetArgument, dataTool } from "../data/data-tool.ts";
import type { Row } from "../data/database.ts";
import { numberOf, type OpenedDataset, withDataset } from "../data/open-dataset.ts";
import { nameOf } from "../data/sql.ts";
import { describeVerdict, verdictOf } from "../stats/compare-segments.ts";
import { correlate } from "../stats/correlate.ts";
import { Segmentation } from "./segmentation.ts";

const MAX_MEASURES = 20;

export const { definition, implementation } = dataTool({
  name: "segment_by_column",
  title: "Segment by a column",
  description:
    "Groups a dataset by the values of one column and summarizes the numbers of each group. Given a pair of columns, it also says whether their correlation holds within the groups.",
  args: z.strictObject({
    dataset: DatasetArgument,
    by: z.string().describe("The column whose values make the groups"),
    columns: ColumnNames.optional().describe("Which numbers to summarize; all numerical columns if absent"),
    pair: z
      .object({ x: z.string(), y: z.string() })
      .optional()
      .describe("Two numerical columns whose correlation to look at within the groups"),
    limit: z.int().min(2).max(100).default(12).describe("How many groups to list at most"),
  }),
  output: Segmentation,
  effects: "pure",
  run: async ({ dataset: argument, by, columns, pair, limit }, run) =>
    withDataset(run, argument, async (opened) => {
      const { dataset, database } = opened;
      const group = opened.column(by);
      const measures = columnsWanted(opened, columns, "numerical")
        .filter(({ name }) => name !== by)
        .slice(0, MAX_MEASURES);
      const [x, y] = pair === undefined ? [] : [numeric(opened.column(pair.x)), numeric(opened.column(pair.y))];
      const asked = measures.flatMap((column, at) => [
        `count(${numberOf(column)}) AS n${String(at)}`,
        `avg(${numberOf(column)}) AS mean${String(at)}`,
        `median(${numberOf(column)}) AS median${String(at)}`,
      ]);
      const both = x === undefined || y === undefined ? undefined : `${numberOf(y)}, ${numberOf(x)}`;
      const paired = both === undefined ? "NULL AS r, 0 AS n" : `corr(${both}) AS r, regr_count(${both}) AS n`;
      const rows = await database.rows(
        `SELECT coalesce(CAST(${nameOf(group.name)} AS VARCHAR), '(missing)') AS value, count(*) AS rows, ${[paired, ...asked].join(", ")}
         FROM data GROUP BY value ORDER BY rows DESC, value LIMIT ${String(limit)}`,
      );
      const segments = rows.map((row) =>
        segmentOf(
          row,
          measures.map(({ name }) => name),
          dataset.rowCount,
        ),
      );
      const rest = await restOf(opened, group.name, segments);
      if (x === undefined || y === undefined) {
        return { datasetName: dataset.datasetName, by, segments, others: rest, pair: null };
      }
      const [pooled] = await correlate(database, [x, y], "pearson");
      const r = pooled?.r ?? null;
      const verdict = verdictOf(r, segments);
      const sentence = describeVerdict(verdict, by, segments);
      const found = { x: x.name, y: y.name, pooled: r, n: pooled?.n ?? 0, verdict, sentence };
      return { datasetName: dataset.datasetName, by, segments, others: rest, pair: found };
    }),
});

type Segment = z.infer<typeof Segmentation>["segments"][number];

function segmentOf(row: Row, names: readonly string[], total: number): Segment {
  const rows = Number(row["rows"]);
  const numberAt = (key: string): number | null => (typeof row[key] === "number" ? row[key] : null);
  const measures = names.map((column, at) => ({
    column,
    n: Number(row[`n${String(at)}`]),
    mean: numberAt(`mean${String(at)}`),
    median: numberAt(`median${String(at)}`),
  }));
  const share = total === 0 ? 0 : rows / total;
  return { value: String(row["value"]), rows, share, measures, r: numberAt("r"), n: Number(row["n"] ?? 0) };
}

async function restOf(
  { database, dataset }: OpenedDataset,
  group: string,
  segments: readonly Segment[],
): Promise<{ segments: number; rows: number }> {
  const { n } = await database.row(
    `SELECT count(DISTINCT coalesce(CAST(${nameOf(group)} AS VARCHAR), '(missing)')) AS n FROM data`,
  );
  const shown = segments.reduce((sum, { rows }) => sum + rows, 0);
  return { segments: Number(n) - segments.length, rows: dataset.rowCount - shown };
}
