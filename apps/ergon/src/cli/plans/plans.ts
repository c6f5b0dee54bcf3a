import { planNotFound } from "@ergon/core/schema";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { noteProblems } from "../output/note-problems.ts";
import { oneLine, printable } from "../output/printable.ts";
import { table } from "../output/table.ts";

export async function listPlans({ terminal, compose }: CommandContext): Promise<ExitCode> {
  const app = await compose();
  const { all, problems } = await app.plans();
  if (terminal.json) {
    const items = all.map(({ id, plan, file }) => ({
      planId: id,
      description: plan.description,
      parameters: plan.parameters,
      file,
    }));
    terminal.printJson({ items, problems });
    return EXIT.ok;
  }
  const rows = all.map(({ id, plan }) => [id, oneLine(plan.description)]);
  const { bold, dim } = terminal.colors;
  const paint = (cell: string, column: number, isHeader: boolean) =>
    isHeader ? dim(cell) : column === 0 ? bold(cell) : cell;
  if (rows.length === 0) terminal.note("No plans. Put a *.plan.json into a folder and name it with --capabilities.");
  else terminal.print(table(rows, { columns: terminal.columns, header: ["PLAN", "DESCRIPTION"], paint }));
  noteProblems(terminal, problems);
  return EXIT.ok;
}

export async function showPlan({ terminal, compose }: CommandContext, planId: string): Promise<ExitCode> {
  const app = await compose();
  const plans = await app.plans();
  const found = plans.all.find(({ id }) => id === planId);
  if (found === undefined) throw planNotFound(planId, plans.ids());
  if (terminal.json) terminal.printJson(found.plan);
  else terminal.print(printable(JSON.stringify(found.plan, undefined, 2)));
  return EXIT.ok;
}
