import { type PlanProblem, validatePlan } from "@ergon/core";
import { planError } from "@ergon/core/schema";
import type { PlanReport } from "@ergon/core/engine";
import { keysOf, type Location, readPlanDocument } from "@ergon/node";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { explainMissing } from "../../hub/explain-missing.ts";
import { count, oneLine } from "../output/printable.ts";

export async function checkPlan({ terminal, compose }: CommandContext, file: string): Promise<ExitCode> {
  const app = await compose();
  const { registry } = await app.capabilities();
  const document = await readPlanDocument(file);
  if ("problem" in document)
    throw planError("plan_invalid", `${file}: ${document.problem.reason}`, { details: { file } });
  const absences = await app.knowTools(document.value);
  const { ok, problems: found, estimate } = validatePlan(document.value, { registry });
  const problems = explainMissing(found, absences).map((problem) => ({
    ...problem,
    ...document.locate(keysOf(problem.path)),
  }));
  if (terminal.json) terminal.printJson({ ok, problems, estimate });
  else printReport(terminal, file, { ok, problems, estimate });
  return ok ? EXIT.ok : EXIT.failed;
}

function printReport(
  terminal: CommandContext["terminal"],
  file: string,
  report: Pick<PlanReport, "ok" | "estimate"> & { readonly problems: readonly (PlanProblem & Location)[] },
): void {
  const { colors } = terminal;
  for (const { path, code, message, severity, line, column } of report.problems) {
    const mark = severity === "error" ? colors.red("error") : colors.yellow("warning");
    const place = `${file}:${String(line)}:${String(column)}`;
    terminal.print(`${place} ${mark} ${colors.bold(path)} ${colors.dim(code)} ${oneLine(message)}`);
  }
  const { energyUnits, toolCalls } = report.estimate;
  terminal.print(
    report.ok
      ? `${colors.green("ok")} ${file}: ${count(toolCalls, "call")}, about ${count(energyUnits, "energy unit")}`
      : colors.red(`${file} cannot run`),
  );
}
