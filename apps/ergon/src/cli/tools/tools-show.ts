import type { JsonSchema } from "@ergon/core";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { hubTools } from "../../hub/hub-tools.ts";
import { describeSchema, describeType } from "../output/describe-schema.ts";
import { oneLine, printable } from "../output/printable.ts";
import { table } from "../output/table.ts";
import type { Terminal } from "../output/terminal.ts";

export async function showTool({ terminal, compose }: CommandContext, id: string): Promise<ExitCode> {
  const app = await compose();
  const { registry } = await app.capabilities();
  const there = registry.has(id) ? undefined : (await hubTools(app)).tools.find((found) => found.id === id);
  const tool = there ?? registry.summary(id);
  if (terminal.json) {
    terminal.printJson(tool);
    return EXIT.ok;
  }
  const { colors } = terminal;
  const facts = [
    ["effects", tool.effects],
    ["origin", tool.origin],
    ["roles", tool.applicableRoles.join(", ")],
    ["tags", tool.tags.join(", ")],
    ["context", tool.requiredContext.join(", ")],
    ["often after", tool.suggestedPrerequisites.join(", ")],
    ["often before", tool.suggestedPostrequisites.join(", ")],
    ["energy", `about ${tool.estimatedEnergyUnits} units a call`],
  ].filter(([, value]) => value !== "");
  terminal.print(`${colors.bold(tool.id)}  ${oneLine(tool.title)}`);
  terminal.print(printable(tool.description));
  terminal.print("");
  terminal.print(
    table(
      facts.map((fact) => fact.map(oneLine)),
      { columns: undefined, paint: dimFirst(terminal) },
    ),
  );
  printFields(terminal, "takes", tool.parameters);
  if (tool.outputSchema !== undefined) printFields(terminal, "returns", tool.outputSchema);
  return EXIT.ok;
}

function printFields(terminal: Terminal, title: string, schema: JsonSchema): void {
  const fields = describeSchema(schema);
  const rows = fields.map(({ name, type, need, description }) => [`  ${name}`, type, need, description].map(printCell));
  terminal.print(`\n${terminal.colors.bold(title)}${fields.length === 0 ? `  ${describeType(schema)}` : ""}`);
  if (rows.length > 0) terminal.print(table(rows, { columns: undefined }));
}

function printCell(cell: string): string {
  return printable(cell.replaceAll(/[\r\n\t]+/g, " "));
}

function dimFirst(terminal: Terminal) {
  return (cell: string, column: number) => (column === 0 ? terminal.colors.dim(cell) : cell);
}
