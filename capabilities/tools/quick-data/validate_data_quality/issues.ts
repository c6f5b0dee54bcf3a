import { z } from "zod";
import type { Column } from "../data/columns.ts";
import type { Row } from "../data/database.ts";
import { numberOf, type OpenedDataset } from "../data/open-dataset.ts";
import { nameOf } from "../data/sql.ts";

export const MAX_CHECKED = 200;
const BATCH = 50;

export const Issue = z.object({
  code: z.enum([
    "missing_values",
    "duplicate_rows",
    "constant_column",
    "numbers_as_text",
    "not_a_number",
    "spaces_around",
    "repeated_identifier",
    "empty_dataset",
  ]),
  severity: z.enum(["high", "medium", "low"]),
  column: z.string().nullable(),
  count: z.int(),
  /** Of the rows. */
  share: z.number(),
  message: z.string(),
});
export type Issue = z.infer<typeof Issue>;

const ORDER = ["high", "medium", "low"];

export async function issuesIn(
  opened: OpenedDataset,
): Promise<{ readonly issues: Issue[]; readonly duplicateRows: number }> {
  const { dataset, database, columns } = opened;
  const { rowCount } = dataset;
  if (rowCount === 0) {
    const message = "It has columns but no rows.";
    return {
      issues: [{ code: "empty_dataset", severity: "high", column: null, count: 0, share: 1, message }],
      duplicateRows: 0,
    };
  }
  const checked = columns.slice(0, MAX_CHECKED);
  const issues: Issue[] = [];
  for (let from = 0; from < checked.length; from += BATCH) {
    const batch = checked.slice(from, from + BATCH);
    const row = await database.row(`SELECT ${batch.flatMap(countsOf).join(", ")} FROM data`);
    issues.push(...batch.flatMap((column, at) => columnIssues(column, at, row, rowCount)));
  }
  const { n } = await database.row("SELECT count(*) AS n FROM (SELECT DISTINCT * FROM data)");
  const duplicateRows = rowCount - Number(n);
  if (duplicateRows > 0) {
    const message = `${counted(duplicateRows, "row")} ${duplicateRows === 1 ? "is" : "are"} exact copies of others.`;
    issues.push(issue("duplicate_rows", "medium", null, duplicateRows, rowCount, message));
  }
  const worst = (a: Issue, b: Issue): number =>
    ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity) || b.share - a.share;
  return { issues: issues.toSorted(worst), duplicateRows };
}

function countsOf(column: Column, at: number): string[] {
  const [name, place] = [nameOf(column.name), String(at)];
  const isText = column.type === "text";
  return [
    `count(${name}) AS present_${place}`,
    `count(DISTINCT ${name}) AS distinct_${place}`,
    column.type === "number" ? `count(${name}) - count(${numberOf(column)}) AS odd_${place}` : `0 AS odd_${place}`,
    isText ? `count(*) FILTER (WHERE ${name} <> trim(${name})) AS spaced_${place}` : `0 AS spaced_${place}`,
    isText
      ? `count(*) FILTER (WHERE regexp_full_match(trim(${name}), '[-+]?[0-9][0-9., ]*%?')) AS numbers_${place}`
      : `0 AS numbers_${place}`,
  ];
}

function columnIssues(column: Column, at: number, row: Row, rowCount: number): Issue[] {
  const count = (what: string): number => Number(row[`${what}_${String(at)}`] ?? 0);
  const { name, role, type } = column;
  const [present, distinct] = [count("present"), count("distinct")];
  const missing = rowCount - present;
  const found: Issue[] = [];
  const say = (code: Issue["code"], severity: Issue["severity"], n: number, message: string): void => {
    found.push(issue(code, severity, name, n, rowCount, message));
  };
  if (missing > 0) {
    const severity = missing > rowCount * 0.3 ? "high" : missing > rowCount * 0.05 ? "medium" : "low";
    say(
      "missing_values",
      severity,
      missing,
      `"${name}" is missing in ${counted(missing, "row")} (${percent(missing / rowCount)}).`,
    );
  }
  if (distinct === 1 && rowCount > 1 && missing === 0) {
    say("constant_column", "low", rowCount, `"${name}" has the same value in every row.`);
  }
  if (count("odd") > 0) {
    say(
      "not_a_number",
      "medium",
      count("odd"),
      `"${name}" has ${counted(count("odd"), "value")} that ${count("odd") === 1 ? "is" : "are"} no usable number (infinite, NaN or beyond 1e150).`,
    );
  }
  if (count("spaced") > 0) {
    say(
      "spaces_around",
      "low",
      count("spaced"),
      `"${name}" has ${counted(count("spaced"), "text")} with spaces before or after.`,
    );
  }
  if (type === "text" && present > 0 && count("numbers") >= present * 0.9) {
    say(
      "numbers_as_text",
      "medium",
      count("numbers"),
      `"${name}" holds numbers, but written so that they were read as text.`,
    );
  }
  const repeated = present - distinct;
  if (role === "identifier" && repeated > 0 && repeated < present * 0.05) {
    say(
      "repeated_identifier",
      "high",
      repeated,
      `"${name}" looks like an identifier, but ${counted(repeated, "value")} occur again.`,
    );
  }
  return found;
}

function issue(
  code: Issue["code"],
  severity: Issue["severity"],
  column: string | null,
  count: number,
  rowCount: number,
  message: string,
): Issue {
  return { code, severity, column, count, share: count / rowCount, message };
}

function counted(count: number, word: string): string {
  return `${String(count)} ${word}${count === 1 ? "" : "s"}`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)}%`;
}
