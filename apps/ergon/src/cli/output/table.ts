/** The last column is the one that is cut to fit; it never gets narrower than this. */
const MIN_LAST_COLUMN = 20;

export type TableOptions = {
  readonly columns: number | undefined;
  readonly header?: readonly string[];
  readonly paint?: (cell: string, column: number, isHeader: boolean) => string;
};

/** Columns as wide as their widest cell, the last one cut to the screen. */
export function table(rows: readonly (readonly string[])[], options: TableOptions): string {
  const { header, columns, paint = (cell) => cell } = options;
  const all = header === undefined ? rows : [header, ...rows];
  const count = Math.max(0, ...all.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, index) => Math.max(...all.map((row) => row[index]?.length ?? 0)));
  const before = widths.slice(0, -1).reduce((total, width) => total + width + 2, 0);
  const room = columns === undefined ? Infinity : Math.max(MIN_LAST_COLUMN, columns - before);
  const line = (row: readonly string[], isHeader: boolean) => {
    const cells = row.map((cell, index) => {
      const isLast = index === count - 1;
      const painted = paint(isLast ? cut(cell, room) : cell, index, isHeader);
      return isLast ? painted : painted + " ".repeat((widths[index] ?? 0) - cell.length + 2);
    });
    return cells.join("").trimEnd();
  };
  return all.map((row, index) => line(row, header !== undefined && index === 0)).join("\n");
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}
