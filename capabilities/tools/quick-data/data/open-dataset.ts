import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { didYouMean, isBlobRef, JSON_MEDIA_TYPE, type ToolRun } from "@ergon/core";
import { type Column, columnType } from "./columns.ts";
import { dataError } from "./data-error.ts";
import { type Database, withDatabase } from "./database.ts";
import { Dataset } from "./dataset.ts";
import { withScratch } from "./scratch-folder.ts";
import { nameOf, textOf } from "./sql.ts";

/** A dataset is described in less; what is larger is something else. */
const MAX_DESCRIPTION_BYTES = 4 * 1024 * 1024;
/** Values of a session's context that are looked through for datasets. */
const MAX_VALUES_SEEN = 10_000;

const LOAD_DATASET = "quick-data::load_dataset";

/** How tools are told which dataset: by its name in this session, or by what `load_dataset` returned. */
type DatasetArgument = unknown;

export type OpenedDataset = {
  readonly dataset: Dataset;
  /** The rows are the view `data`; `row_number` counts them from 1. */
  readonly database: Database;
  readonly columns: readonly Column[];
  /** Throws `column_not_found`. */
  readonly column: (name: string) => Column;
};

export async function withDataset<T>(
  run: ToolRun,
  argument: DatasetArgument,
  work: (opened: OpenedDataset) => Promise<T>,
): Promise<T> {
  const dataset = await findDataset(run, argument);
  return withScratch(async (folder) => {
    const file = join(folder, "data.parquet");
    await writeFile(file, await run.blobs.get(dataset.data), { mode: 0o600 });
    return withDatabase({ folder, files: [file], signal: run.signal }, async (database) => {
      await database.run(`CREATE VIEW data AS SELECT * FROM read_parquet(${textOf(file)})`);
      const columns = await columnsOf(database, dataset);
      return work({ dataset, database, columns, column: (name) => columnNamed(dataset, columns, name) });
    });
  });
}

/** By name in this session, or as it was handed over. Throws `dataset_not_found`. */
export async function findDataset(run: ToolRun, argument: DatasetArgument): Promise<Dataset> {
  const given = Dataset.safeParse(argument);
  if (given.success) return given.data;
  const datasets = await datasetsIn(run);
  const found = typeof argument === "string" ? datasets.get(argument) : undefined;
  if (found !== undefined) return found;
  const name = typeof argument === "string" ? `"${argument}"` : "of that form";
  const known = [...datasets.keys()];
  const hint =
    known.length === 0
      ? `This session has loaded none: load one with ${LOAD_DATASET} first.`
      : `This session has ${known.join(", ")}.${typeof argument === "string" ? didYouMean(argument, known) : ""}`;
  throw dataError("dataset_not_found", `There is no dataset ${name}. ${hint}`);
}

/** Every dataset that the session's context holds; of two with one name the later. */
export async function datasetsIn(run: ToolRun): Promise<ReadonlyMap<string, Dataset>> {
  const found = new Map<string, Dataset>();
  for (const value of await openedValues(run)) {
    const dataset = Dataset.safeParse(value);
    if (dataset.success) found.set(dataset.data.datasetName, dataset.data);
  }
  return found;
}

/** Values of the context, and the items of those that are lists: a loop saves a list. What was loaded last comes last. */
async function openedValues({ context, blobs }: ToolRun): Promise<readonly unknown[]> {
  const { [`${LOAD_DATASET}_result`]: newest, ...others } = context;
  const values = [...Object.values(others), newest].flatMap((value): readonly unknown[] =>
    Array.isArray(value) ? value : [value],
  );
  const opened = values.slice(0, MAX_VALUES_SEEN).map(async (value): Promise<unknown> => {
    if (!isBlobRef(value) || value.mediaType !== JSON_MEDIA_TYPE || value.bytes > MAX_DESCRIPTION_BYTES) return value;
    return JSON.parse(new TextDecoder().decode(await blobs.get(value)));
  });
  return (await Promise.all(opened)).flat();
}

/** Types are the data's own; roles are taken from the description where they fit it. */
async function columnsOf(database: Database, { columns }: Dataset): Promise<readonly Column[]> {
  const described = new Map(columns.map((column) => [column.name, column]));
  const rows = await database.rows("DESCRIBE data");
  return rows.map((row) => {
    const name = String(row["column_name"]);
    const type = columnType(String(row["column_type"]));
    const known = described.get(name);
    const isNumber = type === "integer" || type === "number";
    const fits = known !== undefined && (known.role !== "numerical" || isNumber);
    const fallback = isNumber ? "numerical" : "categorical";
    return {
      name,
      type,
      role: fits ? known.role : fallback,
      missing: known?.missing ?? 0,
      distinct: known?.distinct ?? 0,
    };
  });
}

function columnNamed({ datasetName }: Dataset, columns: readonly Column[], name: string): Column {
  const found = columns.find((column) => column.name === name);
  if (found !== undefined) return found;
  const names = columns.map((column) => column.name);
  const listed = names.slice(0, 20).join(", ");
  const hint = didYouMean(name, names) || ` It has ${listed}${names.length > 20 ? ", …" : ""}.`;
  throw dataError("column_not_found", `"${datasetName}" has no column "${name}".${hint}`);
}

/**
 * A column's numbers, the rest as NULL: what is infinite or not a number, and what is so large that its square would be.
 */
export function numberOf({ name, type }: Pick<Column, "name" | "type">): string {
  const column = nameOf(name);
  if (type === "integer") return `CAST(${column} AS DOUBLE)`;
  return `CASE WHEN abs(${column}) < ${LARGEST_NUMBER} THEN CAST(${column} AS DOUBLE) END`;
}

const LARGEST_NUMBER = "1e150";
