/*
 * DuckDB as the tools use it: one database in memory per call, which can reach the files of its scratch folder that were
 * named, and nothing else: no other file, no network, no extension, and no statement can change that again.
 */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fromPack } from "@ergon/core";
import type { DuckDBConnection, DuckDBType, DuckDBValue } from "@ergon/quick-data";
import { dataError } from "./data-error.ts";
import { textOf } from "./sql.ts";

const MEMORY_LIMIT = "256MB";
const SPILL_LIMIT = "4GB";
const MAX_THREADS = 4;
/** More rows than this never leave the database in one answer. */
export const MAX_ROWS_READ = 100_000;

type Cell = number | string | boolean | null;
export type Row = Readonly<Record<string, Cell>>;

export type Database = {
  readonly run: (sql: string) => Promise<void>;
  readonly rows: (sql: string, values?: readonly number[]) => Promise<readonly Row[]>;
  /** The first row. */
  readonly row: (sql: string, values?: readonly number[]) => Promise<Row>;
};

export type DatabaseOptions = {
  readonly folder: string;
  readonly files: readonly string[];
  readonly signal: AbortSignal;
};

export async function withDatabase<T>(options: DatabaseOptions, work: (database: Database) => Promise<T>): Promise<T> {
  const { folder, files, signal } = options;
  const { loadDuckDb } = await fromPack("@ergon/quick-data", () => import("@ergon/quick-data"));
  const { DOUBLE, DuckDBInstance } = await loadDuckDb();
  signal.throwIfAborted();
  const instance = await DuckDBInstance.create(":memory:", {
    memory_limit: MEMORY_LIMIT,
    threads: String(Math.min(MAX_THREADS, availableParallelism())),
    temp_directory: join(folder, "spill"),
    max_temp_directory_size: SPILL_LIMIT,
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
    allow_community_extensions: "false",
    allow_unsigned_extensions: "false",
  });
  const connection = await instance.connect();
  const stop = (): void => connection.interrupt();
  signal.addEventListener("abort", stop, { once: true });
  try {
    await connection.run(`SET allowed_paths = [${files.map(textOf).join(", ")}]`);
    await connection.run("SET enable_external_access = false");
    await connection.run("SET lock_configuration = true");
    return await work(databaseOn(connection, signal, DOUBLE));
  } finally {
    signal.removeEventListener("abort", stop);
    connection.closeSync();
    instance.closeSync();
  }
}

function databaseOn(connection: DuckDBConnection, signal: AbortSignal, double: DuckDBType): Database {
  const rows = async (sql: string, values: readonly number[] = []): Promise<readonly Row[]> => {
    signal.throwIfAborted();
    // Left to itself, the driver takes a whole number for an integer, however large.
    const types = values.map(() => double);
    const reader = await connection.runAndReadUntil(sql, MAX_ROWS_READ + 1, [...values], types).catch(failed);
    if (reader.currentRowCount > MAX_ROWS_READ) throw dataError("query_failed", "An answer has too many rows.");
    const names = reader.columnNames();
    const named = (cell: DuckDBValue, at: number): [string, Cell] => [names[at] ?? "", cellOf(cell)];
    return reader.getRows().map((cells) => Object.fromEntries(cells.map(named)));
  };
  return {
    rows,
    row: async (sql, values) => (await rows(sql, values))[0] ?? {},
    run: async (sql) => {
      signal.throwIfAborted();
      await connection.run(sql).catch(failed);
    },
  };

  function failed(thrown: unknown): never {
    signal.throwIfAborted();
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    throw dataError("query_failed", message.split("\n", 1)[0]?.slice(0, MAX_MESSAGE) ?? "", { cause: thrown });
  }
}

const MAX_MESSAGE = 500;

/** As JSON can say it: no infinity, and whole numbers that a double cannot hold as text. */
function cellOf(value: DuckDBValue): Cell {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  return String(value);
}
