import type { Correction, PlanChange } from "@ergon/core/schema";
import { oneLine } from "./printable.ts";

const MAX_CHANGE = 200;

/** A correction for people: what became of it, what it does, and how it changes the plan. */
export function describeCorrection({ correctionId, state, path, summary, diff }: Correction): readonly string[] {
  return [
    `${oneLine(path)}: ${oneLine(summary)}  (${state}, ${correctionId})`,
    ...diff.map((change) => `  ${describeChange(change)}`),
  ];
}

/** As one line of a patch. */
function describeChange({ op, path, from, value }: PlanChange): string {
  const before = from === undefined ? "" : ` ${brief(from)}`;
  if (op === "remove") return `- ${oneLine(path)}${before}`;
  return `${op === "add" ? "+" : "~"} ${oneLine(path)}${before === "" ? "" : `${before} →`} ${brief(value)}`;
}

function brief(value: unknown): string {
  const text = oneLine(JSON.stringify(value) ?? "");
  return text.length <= MAX_CHANGE ? text : `${text.slice(0, MAX_CHANGE - 1)}…`;
}
