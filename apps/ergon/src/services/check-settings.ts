import { existsSync } from "node:fs";
import { usageError } from "@ergon/core/schema";
import type { Settings } from "@ergon/node";
import { describeProblem } from "../cli/output/note-problems.ts";
import type { Terminal } from "../cli/output/terminal.ts";

/** Shows warnings, also of folders that are named and not there; throws `setting_invalid` with everything that is wrong when anything is. */
export function checkSettings({ problems, values }: Settings, terminal: Pick<Terminal, "warn">): void {
  for (const { severity, message } of problems) if (severity === "warning") terminal.warn(message);
  const folders = values.capabilities.filter((folder) => !existsSync(folder));
  for (const file of folders) terminal.warn(describeProblem({ file, reason: "This folder does not exist." }));
  const errors = problems.filter(({ severity }) => severity === "error");
  if (errors.length === 0) return;
  const listed = errors.map(({ message }) => message).join("\n       ");
  throw usageError("setting_invalid", `${listed}\n       "ergon doctor" shows every setting.`, {
    details: { problems: errors },
  });
}
