import type { DryRunReport } from "@ergon/core/schema";
import { count, oneLine, printable } from "./printable.ts";
import { describeValue } from "./session-report.ts";
import { table } from "./table.ts";
import type { Terminal } from "./terminal.ts";

/** What a plan would do, and that it has not done it. */
export function reportDryRun(terminal: Terminal, report: DryRunReport): void {
  if (terminal.json) {
    terminal.printJson(report);
    return;
  }
  const { bold, dim, red, yellow } = terminal.colors;
  terminal.print(`${bold(`dry run of ${report.planId}`)}: nothing was called, asked or kept; outputs are made up`);
  const rows = report.calls.map(({ path, toolId, effects, energyUnits, arguments: args }) => [
    path,
    toolId,
    effects,
    String(energyUnits),
    args === undefined ? "(long)" : oneLine(printable(JSON.stringify(args))),
  ]);
  const header = ["STEP", "WOULD CALL", "EFFECTS", "ENERGY", "WITH"];
  if (rows.length > 0) terminal.print(table(rows, { columns: terminal.columns, header }));
  else terminal.print("It would call no tool.");
  for (const { path, approval } of report.calls) {
    if (approval !== undefined) terminal.print(`${yellow("needs approval")} at ${bold(path)}: ${oneLine(approval)}`);
  }
  for (const { path, message, answer } of report.waits) {
    const taken = dim(`(taken as ${oneLine(printable(JSON.stringify(answer)))})`);
    terminal.print(`${yellow("would ask you")} at ${bold(path)}: ${oneLine(message)} ${taken}`);
  }
  for (const { path, error, unsure } of report.problems) {
    terminal.print(
      `${unsure ? yellow(`cannot say (${error.code})`) : red(error.code)} at ${bold(path)}: ${oneLine(error.message)}`,
    );
  }
  if (report.unknownOutputs.length > 0)
    terminal.print(`no output schema, taken as null: ${oneLine(report.unknownOutputs.join(", "))}`);
  if (report.notReached.length > 0)
    terminal.print(`not reached with these values: ${oneLine(report.notReached.join(", "))}`);
  if (report.stopped !== undefined) terminal.print(`${red("given up")}: ${oneLine(report.stopped)}`);
  terminal.print(`${count(report.calls.length, "call")}, about ${count(report.energyUnits, "unit")} of energy`);
  if (report.finalResponse !== undefined)
    terminal.print(`would answer: ${oneLine(describeValue(report.finalResponse, terminal))}`);
}
