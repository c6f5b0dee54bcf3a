import type { Column, ColumnRole } from "./columns.ts";
import { dataError } from "./data-error.ts";
import type { OpenedDataset } from "./open-dataset.ts";

/** The named columns, each once; without names all of the role. Throws for names that are not there or hold no numbers. */
export function columnsWanted(
  { columns, column }: Pick<OpenedDataset, "columns" | "column">,
  names: readonly string[] | undefined,
  role: ColumnRole,
): readonly Column[] {
  if (names === undefined) return columns.filter((candidate) => candidate.role === role);
  const wanted = [...new Set(names)].map((name) => column(name));
  if (role === "numerical") for (const each of wanted) numeric(each);
  return wanted;
}

/** Throws `column_unfit` for a column without numbers. */
export function numeric(column: Column): Column {
  if (column.type === "integer" || column.type === "number") return column;
  throw dataError("column_unfit", `"${column.name}" holds ${column.type}, but numbers are needed here.`);
}

/** Throws `column_unfit` for a column without dates. */
export function temporal(column: Column): Column {
  if (column.type === "date" || column.type === "timestamp") return column;
  throw dataError("column_unfit", `"${column.name}" holds ${column.type}, but dates are needed here.`);
}
