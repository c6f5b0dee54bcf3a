import { usageError } from "@ergon/core/schema";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { oneLine } from "../output/printable.ts";
import { startProgressLine } from "../output/progress-line.ts";
import { table } from "../output/table.ts";

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 50;

export async function searchServers(
  { terminal, signal, compose }: CommandContext,
  words: readonly string[],
  options: { readonly limit?: string },
): Promise<ExitCode> {
  const limit = limitOf(options.limit);
  const app = await compose();
  const progress = startProgressLine(terminal, "searching the registry");
  const { servers, asOf, stale } = await app.searchServers(words.join(" "), limit, signal).finally(progress.stop);
  if (terminal.json) {
    terminal.printJson({ items: servers, asOf, ...(stale === undefined ? {} : { stale }) });
    return EXIT.ok;
  }
  if (stale !== undefined) terminal.note(`${oneLine(stale)} This is what it said at ${asOf ?? "no time"}.`);
  if (servers.length === 0) {
    terminal.note("Nothing found. Try other words: what the server should do.");
    return EXIT.ok;
  }
  const rows = servers.map(({ name, version, description, package: npm, remote }) => [
    name,
    version,
    npm === undefined ? (remote === undefined ? "" : "remote") : "npm",
    oneLine(description),
  ]);
  const { colors, columns } = terminal;
  const paint = (cell: string, column: number, isHeader: boolean) =>
    isHeader ? colors.dim(cell) : column === 0 ? colors.bold(cell) : cell;
  terminal.print(
    table(
      rows.map((row) => row.map(oneLine)),
      { columns, header: ["SERVER", "VERSION", "AS", ""], paint },
    ),
  );
  return EXIT.ok;
}

function limitOf(given: string | undefined): number {
  const limit = given === undefined ? DEFAULT_LIMIT : Number(given);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw usageError("usage", `--limit must be a whole number from 1 to ${String(MAX_LIMIT)}, not "${given ?? ""}".`);
}
