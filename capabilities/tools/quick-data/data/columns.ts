import { z } from "zod";

export const ColumnRole = z.enum(["numerical", "temporal", "categorical", "identifier"]);
export type ColumnRole = z.infer<typeof ColumnRole>;

export const ColumnType = z.enum(["integer", "number", "text", "boolean", "date", "timestamp", "time"]);
export type ColumnType = z.infer<typeof ColumnType>;

export const Column = z.object({
  name: z.string(),
  type: ColumnType,
  role: ColumnRole,
  missing: z.int().nonnegative(),
  /** How many different values; from a thousand on an estimate. */
  distinct: z.int().nonnegative(),
});
export type Column = z.infer<typeof Column>;

/** From DuckDB's names of types; what is not among them is kept as text. */
export function columnType(databaseType: string): ColumnType {
  const name = databaseType.replace(/\(.*$/, "").toUpperCase();
  if (/^U?(TINY|SMALL|BIG)INT$|^U?INTEGER$/.test(name)) return "integer";
  if (/^U?HUGEINT$|^(DOUBLE|FLOAT|DECIMAL)$/.test(name)) return "number";
  if (name === "BOOLEAN") return "boolean";
  if (name === "DATE") return "date";
  if (name.startsWith("TIMESTAMP")) return "timestamp";
  return name === "TIME" ? "time" : "text";
}

export type ColumnFacts = {
  readonly name: string;
  readonly type: ColumnType;
  readonly present: number;
  readonly distinct: number;
  /** No value twice; known only where it may matter. */
  readonly isUnique: boolean;
  /** Whole numbers without a hole between the smallest and the largest. */
  readonly isRunning: boolean;
  /** The smallest of whole numbers; known only where it may matter. */
  readonly min?: number;
};

/** Numbers that run on from here are years of a table of years, not its rows counted. */
const YEARS = { from: 1_000, to: 2_500 };

/** Texts with fewer different values than this share of their rows are categories. */
const CATEGORY_SHARE = 0.5;
const ID_NAME = /(?:^|[^a-z])(?:id|uuid|guid|key|code|no|nr|number)$|[a-z](?:Id|ID|Key|Uuid)$/;

export function roleOf({ name, type, present, distinct, isUnique, isRunning, min = 0 }: ColumnFacts): ColumnRole {
  switch (type) {
    case "date":
    case "timestamp":
    case "time":
      return "temporal";
    case "boolean":
      return "categorical";
    case "number":
      return "numerical";
    case "integer": {
      const isNamedSo = ID_NAME.test(name) || ID_NAME.test(name.toLowerCase());
      const areYears = min >= YEARS.from && min + present <= YEARS.to;
      return present > 1 && isUnique && (isNamedSo || (isRunning && !areYears)) ? "identifier" : "numerical";
    }
    case "text":
      return present === 0 || distinct < present * CATEGORY_SHARE || distinct <= 2 ? "categorical" : "identifier";
  }
}
