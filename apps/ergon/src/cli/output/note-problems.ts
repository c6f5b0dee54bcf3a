import type { CapabilityProblem } from "@ergon/node";
import { printable } from "./printable.ts";
import type { Terminal } from "./terminal.ts";

/** Broken files, for people, beside the answer. */
export function noteProblems(terminal: Terminal, problems: readonly CapabilityProblem[]): void {
  for (const problem of problems) terminal.warn(describeProblem(problem));
}

export function describeProblem({ file, reason }: Pick<CapabilityProblem, "file" | "reason">): string {
  return printable(`${file}: ${reason}`);
}
