import { planError, planNotFound, type PlanReport, validatePlan } from "@ergon/core";
import { readPlanDocument } from "@ergon/node";
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

export async function checkPlan({ terminal, compose }: CommandContext, file: string): Promise<ExitCode> {
  const app = await compose();
  const { registry } = await app.capabilities();
  const document = await readPlanDocument(file);
  if ("problem" in document)
    throw planError("plan_invalid", `${file}: ${document.problem.reason}`, { details: { file } });
  await app.knowTools(document.value);
  const { ok, problems, estimate } = validatePlan(document.value, { registry });
  if (terminal.json) terminal.printJson({ ok, problems, estimate });
  else printReport(terminal, file, { ok, problems, estimate });
  return ok ? EXIT.ok : EXIT.failed;
}

function printReport(
  terminal: CommandContext["terminal"],
  file: string,
  report: Pick<PlanReport, "ok" | "problems" | "estimate">,
): void {
  const { colors } = terminal;
  for (const { path, code, message, severity } of report.problems) {
    const mark = severity === "error" ? colors.red("error") : colors.yellow("warning");
    terminal.print(`${mark} ${colors.bold(path)} ${colors.dim(code)} ${oneLine(message)}`);
  }
  const { energyUnits, toolCalls } = report.estimate;
  terminal.print(
    report.ok
      ? `${colors.green("ok")} ${file}: ${toolCalls} calls, about ${energyUnits} energy units`
      : colors.red(`${file} cannot run`),
  );
}
