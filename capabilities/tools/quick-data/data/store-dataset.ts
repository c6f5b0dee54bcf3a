import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ToolRun } from "@ergon/core";
import { type AllowedFile, openAllowedFile } from "./allowed-file.ts";
import { type Column, columnType } from "./columns.ts";
import { copySource, type SourceFacts } from "./copy-source.ts";
import { dataError } from "./data-error.ts";
import { decimalCommas, decimalOf } from "./decimal-commas.ts";
import type { DataFormat } from "./data-format.ts";
import { type Database, withDatabase } from "./database.ts";
import { type Dataset, PARQUET } from "./dataset.ts";
import { profileColumns } from "./profile-columns.ts";
import { withScratch } from "./scratch-folder.ts";
import { nameOf, textOf } from "./sql.ts";
import { toUtf8 } from "./to-utf8.ts";

export const MAX_COLUMNS = 1_000;
export const MAX_COLUMN_NAME = 500;

/** Reads a file below the data roots into a blob of Parquet. */
export async function storeDataset(run: ToolRun, filePath: string, datasetName: string): Promise<Dataset> {
  return withScratch(async (folder) => {
    const file = await openAllowedFile(run, filePath);
    const copy = join(folder, `source.${file.format}`);
    const target = join(folder, "data.parquet");
    const { path, format } = file;
    run.progress({ fraction: 0, message: `reading ${path}` });
    const facts = await copyAndClose(file, copy, run.signal);
    if (facts.bytes === 0) throw dataError("dataset_unreadable", `"${filePath}" is empty: there is nothing to load.`);
    const encoding = format === "parquet" ? undefined : await toUtf8(copy, run.signal);
    const { columns, rowCount, commas } = await withDatabase(
      { folder, files: [copy, target], signal: run.signal },
      async (database) => {
        const commas = await convert(database, { copy, target, format, filePath });
        run.progress({ fraction: 0.7, message: "looking at its columns" });
        return { ...(await describe(database, target)), commas };
      },
    );
    run.progress({ fraction: 0.9, message: `keeping ${String(rowCount)} rows` });
    const data = await run.blobs.put(await readFile(target), PARQUET);
    const read = {
      ...(encoding === undefined ? {} : { encoding }),
      ...(commas.size === 0 ? {} : { decimalCommas: [...commas] }),
    };
    return { datasetName, columns, rowCount, data, source: { path, format, ...facts, ...read } };
  });
}

async function copyAndClose(file: AllowedFile, copy: string, signal: AbortSignal): Promise<SourceFacts> {
  try {
    return await copySource(file, copy, signal);
  } finally {
    await file.handle.close();
  }
}

type Conversion = {
  readonly copy: string;
  readonly target: string;
  readonly format: DataFormat;
  readonly filePath: string;
};

/**
 * Types are guessed from the first rows; where a later row does not fit, from all of them. Says which columns' decimal
 * commas were read as such.
 */
async function convert(
  database: Database,
  { copy, target, format, filePath }: Conversion,
): Promise<ReadonlySet<string>> {
  const [first = "", ...others] = readersOf(format, copy);
  let reader = first;
  const attempt = async (): Promise<ReadonlySet<string>> => {
    const described = await database.rows(`DESCRIBE SELECT * FROM ${reader}`);
    refuseWidth(
      described.map(({ column_name }) => String(column_name)),
      filePath,
    );
    const columns = described.map((row) => ({ name: String(row["column_name"]), type: String(row["column_type"]) }));
    const texts = format === "csv" ? columns.filter(({ type }) => type === "VARCHAR").map(({ name }) => name) : [];
    const commas = await decimalCommas(database, reader, texts);
    const kept = columns.map(({ name, type }) =>
      commas.has(name) ? `${decimalOf(name)} AS ${nameOf(name)}` : keptAs(name, type),
    );
    await database.run(
      `COPY (SELECT ${kept.join(", ")} FROM ${reader}) TO ${textOf(target)} (FORMAT parquet, USE_TMP_FILE false)`,
    );
    return commas;
  };
  for (;;) {
    try {
      return await attempt();
    } catch (thrown) {
      const next = others.shift();
      if (isQueryFailure(thrown) && next !== undefined) reader = next;
      else if (isQueryFailure(thrown)) throw unreadable(filePath, format, thrown);
      else throw thrown;
    }
  }
}

function readersOf(format: DataFormat, copy: string): readonly string[] {
  const file = textOf(copy);
  switch (format) {
    case "csv":
      return [
        `read_csv(${file}, header = true)`,
        `read_csv(${file}, header = true, sample_size = -1)`,
        `read_csv(${file}, header = true, all_varchar = true, null_padding = true)`,
      ];
    case "json":
      return [`read_json(${file})`, `read_json(${file}, sample_size = -1)`];
    case "parquet":
      return [`read_parquet(${file})`];
  }
}

/** Numbers, texts and times as Parquet has them; whatever is nested becomes its JSON text. */
function keptAs(name: string, databaseType: string): string {
  const column = nameOf(name);
  const type = databaseType.toUpperCase();
  const kept = /^(STRUCT|MAP|UNION|JSON|VARIANT)|\[\d*\]$/.test(type)
    ? `CAST(to_json(${column}) AS VARCHAR)`
    : /^(U?HUGEINT|DECIMAL)/.test(type)
      ? `CAST(${column} AS DOUBLE)`
      : type === "TIMESTAMP WITH TIME ZONE"
        ? `make_timestamp(epoch_us(${column}))`
        : type.startsWith("TIMESTAMP")
          ? `CAST(${column} AS TIMESTAMP)`
          : columnType(type) === "text" && type !== "VARCHAR"
            ? `CAST(${column} AS VARCHAR)`
            : column;
  return `${kept} AS ${column}`;
}

async function describe(
  database: Database,
  target: string,
): Promise<{ readonly columns: Column[]; readonly rowCount: number }> {
  await database.run(`CREATE VIEW data AS SELECT * FROM read_parquet(${textOf(target)})`);
  const described = await database.rows("DESCRIBE data");
  const { n } = await database.row("SELECT count(*) AS n FROM data");
  const rowCount = Number(n);
  const typed = described.map((row) => ({
    name: String(row["column_name"]),
    type: columnType(String(row["column_type"])),
  }));
  return { columns: await profileColumns(database, typed, rowCount), rowCount };
}

function refuseWidth(names: readonly string[], filePath: string): void {
  if (names.length > MAX_COLUMNS) {
    throw dataError(
      "dataset_too_wide",
      `"${filePath}" has ${String(names.length)} columns; a dataset may have ${String(MAX_COLUMNS)}.`,
    );
  }
  const long = names.find((name) => name.length > MAX_COLUMN_NAME);
  if (long === undefined) return;
  throw dataError(
    "dataset_too_wide",
    `"${filePath}" has a column whose name is ${String(long.length)} characters long (${long.slice(0, 40)}…); ${String(MAX_COLUMN_NAME)} are the limit.`,
  );
}

function isQueryFailure(thrown: unknown): thrown is Error {
  return thrown instanceof Error && "code" in thrown && thrown.code === "query_failed";
}

function unreadable(filePath: string, format: DataFormat, cause: Error): Error {
  if (cause.message.startsWith("Out of Memory")) {
    const message = `"${filePath}" takes more memory to read than data tools may use; has it very many columns, or very long rows?`;
    return dataError("dataset_too_wide", message, { cause });
  }
  // The database speaks of the copy; people know the file.
  const reason = cause.message.replaceAll(/"?[^\s"]*ergon-data-[^\s"]*"?/g, "the file");
  return dataError("dataset_unreadable", `"${filePath}" cannot be read as ${format}: ${reason}`, { cause });
}
