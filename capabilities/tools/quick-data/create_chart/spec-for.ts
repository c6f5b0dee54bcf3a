import { type Box, barSpec, boxSpec, histogramSpec, lineSpec } from "../charts/bars.ts";
import { label } from "../charts/look.ts";
import { matrixSpec } from "../charts/matrix.ts";
import type { ChartSpec } from "../charts/render-chart.ts";
import { scatterSpec } from "../charts/scatter.ts";
import type { Column } from "../data/columns.ts";
import { columnsWanted, numeric, temporal } from "../data/columns-wanted.ts";
import { dataError } from "../data/data-error.ts";
import { numberOf, type OpenedDataset } from "../data/open-dataset.ts";
import { nameOf } from "../data/sql.ts";
import { correlate, MAX_CORRELATED } from "../stats/correlate.ts";
import { shown } from "../stats/describe-pair.ts";
import { matrixOf } from "../stats/matrix-of.ts";
import { histogram } from "../stats/histogram.ts";
import { timeSeries } from "../stats/time-buckets.ts";
import type { ChartArguments } from "./chart-arguments.ts";

/** More points make a picture slower, not clearer. */
export const MAX_POINTS_DRAWN = 1_500;
const MAX_GROUPS_DRAWN = 20;
const MAX_COLORS = 8;
const BINS = 30;

type Drawing = { readonly spec: ChartSpec; readonly title: string; readonly caption: string; readonly drawn: number };

/** Asks the database for what a chart shows, and says it in Vega-Lite. */
export function specFor(opened: OpenedDataset, chart: ChartArguments): Promise<Drawing> {
  switch (chart.kind) {
    case "scatter":
      return scatter(opened, chart);
    case "histogram":
      return distribution(opened, chart);
    case "bar":
      return bars(opened, chart);
    case "line":
      return line(opened, chart);
    case "box":
      return boxes(opened, chart);
    case "matrix":
      return matrix(opened, chart);
  }
}

async function scatter(opened: OpenedDataset, chart: ChartArguments): Promise<Drawing> {
  const { database, dataset } = opened;
  const [x, y] = [numeric(needed(opened, chart, "x")), numeric(needed(opened, chart, "y"))];
  const color = chart.color === undefined || chart.color === null ? undefined : opened.column(chart.color);
  const step = Math.max(1, Math.ceil(dataset.rowCount / MAX_POINTS_DRAWN));
  const [pair] = await correlate(database, [x, y], "pearson");
  const group = color === undefined ? "" : `, ${await coloured(opened, color)} AS color`;
  const points = await database.rows(
    `SELECT x, y${color === undefined ? "" : ", color"} FROM (
       SELECT ${numberOf(x)} AS x, ${numberOf(y)} AS y${group}, row_number() OVER () AS place FROM data)
     WHERE x IS NOT NULL AND y IS NOT NULL AND place % ${String(step)} = 0${color === undefined ? "" : " ORDER BY color"}`,
  );
  const title = chart.title ?? `${label(y.name)} against ${label(x.name)}`;
  const sampled = step === 1 ? "" : `, every ${ordinal(step)} row drawn`;
  const caption = `r = ${shown(pair?.r ?? null)} over ${String(pair?.n ?? 0)} rows${sampled}${color === undefined ? "" : "; dashed: all groups together"}`;
  const groupName = color === undefined ? {} : { color: color.name };
  return {
    spec: scatterSpec({ title, subtitle: caption, x: x.name, y: y.name, ...groupName, points }),
    title,
    caption,
    drawn: points.length,
  };
}

/** The largest groups by name, the rest together. */
async function coloured({ database }: OpenedDataset, { name }: Column): Promise<string> {
  const value = `coalesce(CAST(${nameOf(name)} AS VARCHAR), '(missing)')`;
  await database.run(
    `CREATE TEMP TABLE coloured AS SELECT ${value} AS value FROM data GROUP BY value ORDER BY count(*) DESC, value LIMIT ${String(MAX_COLORS - 1)}`,
  );
  return `CASE WHEN ${value} IN (SELECT value FROM coloured) THEN left(${value}, 40) ELSE '(other)' END`;
}

async function distribution(opened: OpenedDataset, chart: ChartArguments): Promise<Drawing> {
  const column = numeric(needed(opened, chart, "x"));
  const bins = await histogram(opened.database, column, BINS);
  const rows = bins.reduce((sum, { count }) => sum + count, 0);
  const title = chart.title ?? `Distribution of ${label(column.name)}`;
  const caption = `${String(rows)} values in ${String(bins.length)} bins`;
  return { spec: histogramSpec({ title, subtitle: caption, column: column.name, bins }), title, caption, drawn: rows };
}

async function bars(opened: OpenedDataset, chart: ChartArguments): Promise<Drawing> {
  const by = needed(opened, chart, "x");
  const value = chart.y === undefined ? undefined : numeric(opened.column(chart.y));
  const size = value === undefined ? "count(*)" : `avg(${numberOf(value)})`;
  const rows = await opened.database.rows(
    `SELECT coalesce(CAST(${nameOf(by.name)} AS VARCHAR), '(missing)') AS value, CAST(${size} AS DOUBLE) AS size
     FROM data GROUP BY value HAVING size IS NOT NULL ORDER BY size DESC, value LIMIT ${String(MAX_GROUPS_DRAWN)}`,
  );
  const found = rows.map((row) => ({ value: String(row["value"]), size: Number(row["size"]) }));
  const measure = value === undefined ? "Rows" : `Mean of ${label(value.name)}`;
  const title = chart.title ?? `${measure} by ${label(by.name)}`;
  const caption =
    found.length < by.distinct ? `The ${String(found.length)} largest groups` : `${String(found.length)} groups`;
  return {
    spec: barSpec({ title, subtitle: caption, by: by.name, measure, bars: found }),
    title,
    caption,
    drawn: found.length,
  };
}

async function line(opened: OpenedDataset, chart: ChartArguments): Promise<Drawing> {
  const time = temporal(needed(opened, chart, "x"));
  const value = chart.y === undefined ? undefined : numeric(opened.column(chart.y));
  const series = await timeSeries(opened.database, time, value, undefined);
  const title = chart.title ?? `${value === undefined ? "Rows" : label(value.name)} over time`;
  const caption = `${String(series.points.length)} points, one for each ${series.period} that has rows`;
  const spec = lineSpec({ title, subtitle: caption, time: time.name, value: value?.name, series });
  return { spec, title, caption, drawn: series.points.length };
}

async function boxes(opened: OpenedDataset, chart: ChartArguments): Promise<Drawing> {
  const value = numeric(needed(opened, chart, "y"));
  const by = chart.x === undefined ? undefined : opened.column(chart.x);
  const group = by === undefined ? "'all rows'" : `coalesce(CAST(${nameOf(by.name)} AS VARCHAR), '(missing)')`;
  const parts = [0.05, 0.25, 0.5, 0.75, 0.95].map(
    (share, at) => `quantile_cont(v, ${String(share)}) AS q${String(at)}`,
  );
  const rows = await opened.database.rows(
    `SELECT "group", ${parts.join(", ")} FROM (SELECT ${group} AS "group", ${numberOf(value)} AS v FROM data)
     WHERE v IS NOT NULL GROUP BY "group" ORDER BY count(*) DESC, "group" LIMIT ${String(MAX_GROUPS_DRAWN)}`,
  );
  const found = rows.map((row): Box => {
    const at = (part: number): number => Number(row[`q${String(part)}`]);
    return { group: String(row["group"]), low: at(0), q1: at(1), median: at(2), q3: at(3), high: at(4) };
  });
  const title = chart.title ?? `${label(value.name)}${by === undefined ? "" : ` by ${label(by.name)}`}`;
  const caption = "Box: the middle half; line: from the 5th to the 95th percentile";
  return {
    spec: boxSpec({ title, subtitle: caption, by: by?.name, value: value.name, boxes: found }),
    title,
    caption,
    drawn: found.length,
  };
}

async function matrix(opened: OpenedDataset, chart: ChartArguments): Promise<Drawing> {
  const columns = columnsWanted(opened, chart.columns, "numerical").slice(0, MAX_CORRELATED);
  if (columns.length < 2) throw dataError("column_unfit", "A correlation matrix needs two columns of numbers.");
  const names = columns.map(({ name }) => name);
  const pairs = await correlate(opened.database, columns, "pearson");
  const title = chart.title ?? "How the numbers go together";
  const caption = `Pearson correlation, ${String(opened.dataset.rowCount)} rows of ${opened.dataset.datasetName}`;
  const spec = matrixSpec({ title, subtitle: caption, columns: names, matrix: matrixOf(names, pairs) });
  return { spec, title, caption, drawn: pairs.length };
}

function needed(opened: OpenedDataset, chart: ChartArguments, which: "x" | "y"): Column {
  const name = chart[which];
  if (name === undefined) throw dataError("column_unfit", `A ${chart.kind} chart needs a column for ${which}.`);
  return opened.column(name);
}

function ordinal(n: number): string {
  const last = n % 10;
  const ending =
    Math.floor(n / 10) % 10 === 1 ? "th" : last === 1 ? "st" : last === 2 ? "nd" : last === 3 ? "rd" : "th";
  return `${String(n)}${ending}`;
}
