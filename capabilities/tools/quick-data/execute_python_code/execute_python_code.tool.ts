import { Json, JsonObject, type ToolRun } from "@ergon/core";
import { z } from "zod";
import { DatasetArgument, dataTool } from "../data/data-tool.ts";
import { dataError } from "../data/data-error.ts";
import { withDataset } from "../data/open-dataset.ts";
import { nameOf } from "../data/sql.ts";

const MAX_ROWS = 20_000;
const MAX_COLUMNS = 50;

const Arguments = z.strictObject({
  code: z.string().min(1).max(100_000).describe("Python; its last expression is what comes back, as JSON"),
  dataset: DatasetArgument.nullable().default(null),
  columns: z
    .array(z.string().nullable())
    .max(MAX_COLUMNS)
    .default([])
    .describe('Which columns of the dataset the code gets, as inputs["data"]; all if none is named'),
  inputs: z.record(z.string(), z.unknown()).default({}).describe("What else the code gets, as inputs"),
  maxRows: z.int().min(1).max(MAX_ROWS).default(2_000).describe("Of more rows, every second, third, … is taken"),
  timeoutMs: z.int().min(100).max(300_000).default(60_000),
});

export const { definition, implementation } = dataTool({
  name: "execute_python_code",
  title: "Run Python code",
  description:
    'Runs Python in the sandbox, away from files, network and this process; the standard library is there. The code finds columns of a dataset as lists in inputs["data"], and whatever else it was given in inputs. What the code writes, returns or fails with is the result.',
  args: Arguments,
  output: z.object({
    status: z.enum(["success", "error", "timeout", "killed"]),
    returnValue: z.unknown(),
    stdout: z.string(),
    stderr: z.string(),
    durationMs: z.number(),
    truncated: z.boolean(),
    /** How many rows the code got. */
    rows: z.int(),
  }),
  effects: "pure",
  run: async ({ code, inputs, timeoutMs, ...wanted }, run) => {
    const data = wanted.dataset === null ? undefined : await columnsOf(run, wanted);
    const given = JsonObject.parse({ ...inputs, ...(data === undefined ? {} : { data: data.columns }) });
    const result = await run.sandbox.execute({ language: "python", code, inputs: given, timeoutMs });
    return { ...result, returnValue: Json.parse(result.returnValue ?? null), rows: data?.rows ?? 0 };
  },
});

type Wanted = Pick<z.output<typeof Arguments>, "dataset" | "columns" | "maxRows">;

/** Evenly taken rows; numbers as numbers, dates and all else as text, what is missing as None. */
async function columnsOf(
  run: ToolRun,
  { dataset: argument, columns: names, maxRows }: Wanted,
): Promise<{ readonly columns: Record<string, unknown[]>; readonly rows: number }> {
  return withDataset(run, argument, async ({ dataset, database, columns, column }) => {
    const named = [...new Set(names.filter((name) => name !== null))].map((name) => column(name));
    const taken = named.length === 0 ? columns : named;
    if (taken.length > MAX_COLUMNS) {
      throw dataError("column_unfit", `Code gets ${String(MAX_COLUMNS)} columns at most; name those that it needs.`);
    }
    const step = Math.max(1, Math.ceil(dataset.rowCount / maxRows));
    const cells = taken.map(({ name, type }, at) => {
      const asIs = type === "integer" || type === "number" || type === "boolean";
      return `${asIs ? nameOf(name) : `CAST(${nameOf(name)} AS VARCHAR)`} AS c${String(at)}`;
    });
    const rows = await database.rows(
      `SELECT * EXCLUDE (place) FROM (SELECT ${cells.join(", ")}, row_number() OVER () AS place FROM data) WHERE place % ${String(step)} = 0`,
    );
    const lists = taken.map(({ name }, at): [string, unknown[]] => [
      name,
      rows.map((row) => row[`c${String(at)}`] ?? null),
    ]);
    return { columns: Object.fromEntries(lists), rows: rows.length };
  });
}
