import { usageError } from "@ergon/core";
import type { Settings } from "@ergon/node";
import type { Terminal } from "./output/terminal.ts";

/** Shows warnings; throws `setting_invalid` with everything that is wrong when anything is. */
export function checkSettings({ problems }: Settings, terminal: Terminal): void {
  for (const { severity, message } of problems) {
    if (severity === "warning") terminal.note(`${terminal.errorColors.yellow("warning:")} ${message}`);
  }
  const errors = problems.filter(({ severity }) => severity === "error");
  if (errors.length === 0) return;
  const listed = errors.map(({ message }) => message).join("\n       ");
  throw usageError("setting_invalid", `${listed}\n       "ergon doctor" shows every setting.`, {
    details: { problems: errors },
  });
}
