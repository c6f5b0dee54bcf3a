/** What a bench says: one table, and what to know when reading it. */
export type Report = {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly notes?: readonly string[];
};

/** Markdown, so that it can be pasted into RESULTS.md. */
export function printReport({ title, columns, rows, notes = [] }: Report): string {
  const table = [columns, columns.map(() => "---"), ...rows];
  const widths = columns.map((_, at) => Math.max(...table.map((row) => row[at]?.length ?? 0)));
  const lines = table.map((row) => `| ${widths.map((width, at) => (row[at] ?? "").padEnd(width)).join(" | ")} |`);
  return [
    `## ${title}`,
    "",
    ...lines,
    ...(notes.length === 0 ? [] : ["", ...notes.map((note) => `- ${note}`)]),
    "",
  ].join("\n");
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString("en");
}
