import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { noteProblems } from "../output/note-problems.ts";
import { hubTools } from "../../hub/hub-tools.ts";
import { oneLine } from "../output/printable.ts";
import { table } from "../output/table.ts";

export async function listTools({ terminal, compose }: CommandContext): Promise<ExitCode> {
  const app = await compose();
  const { registry, problems } = await app.capabilities();
  const here = registry.summaries();
  const { tools, missing } = await hubTools(app);
  const there = tools.filter(({ id }) => !here.some((tool) => tool.id === id));
  const items = [...here, ...there].sort((a, b) => (a.id < b.id ? -1 : 1));
  if (terminal.json) {
    terminal.printJson({ items, problems });
    return EXIT.ok;
  }
  const { colors, columns } = terminal;
  const rows = items.map(({ id, effects, description }) => [id, effects, oneLine(description)]);
  const paint = (cell: string, column: number, isHeader: boolean) =>
    isHeader || column === 1 ? colors.dim(cell) : column === 0 ? colors.bold(cell) : cell;
  terminal.print(table(rows, { columns, header: ["TOOL", "EFFECTS", "DESCRIPTION"], paint }));
  noteProblems(terminal, problems);
  for (const { id, state, errors } of missing) {
    terminal.warn(oneLine(`the tools of the server "${id}" are not there, it is ${state}. ${errors.at(-1) ?? ""}`));
  }
  return EXIT.ok;
}
