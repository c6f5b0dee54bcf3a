import type { RunDiff } from "@ergon/core/schema";
import { FIRST_PRINCIPAL } from "@ergon/node";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { count, oneLine, printable } from "../output/printable.ts";
import { table } from "../output/table.ts";
import { LOOK, throughOwner } from "../../workspace/through-owner.ts";
import { wholeSessionId } from "../../services/whole-id.ts";

type Step = RunDiff["steps"][number];
type Call = NonNullable<Step["a"]>;

export async function diffSessions(
  { terminal, compose }: CommandContext,
  { a, b, all }: { readonly a: string; readonly b: string; readonly all: boolean },
): Promise<ExitCode> {
  const app = await compose();
  try {
    const [sessionId, withSessionId] = [await wholeSessionId(app, a), await wholeSessionId(app, b)];
    const diff = await throughOwner(app, LOOK, ({ engine }) =>
      engine.diff({ owner: FIRST_PRINCIPAL, sessionId, withSessionId }),
    );
    if (terminal.json) {
      terminal.printJson(diff);
      return EXIT.ok;
    }
    const { bold, dim } = terminal.colors;
    for (const [name, side] of [
      ["A", diff.a],
      ["B", diff.b],
    ] as const) {
      const origin =
        side.forkedFrom === undefined ? "" : `, forked from ${side.forkedFrom.sessionId} at ${side.forkedFrom.stepId}`;
      const cost = `${count(side.calls, "call")}, ${side.durationMs} ms, ${count(side.energyUnits, "unit")}`;
      terminal.print(
        `${bold(name)} ${side.sessionId}  ${side.status}  plan ${side.planId ?? "-"}  ${dim(cost + origin)}`,
      );
    }
    const shown = diff.steps.filter(({ change }) => all || change !== "same");
    const rows = shown.map((step) => [MARKS[step.change], step.path, took(step), spent(step), what(step)]);
    if (rows.length > 0)
      terminal.print(
        table(rows, { columns: terminal.columns, header: ["", "STEP", "MS A/B", "ENERGY A/B", "DIFFERENCE"] }),
      );
    for (const { key, change, a: one, b: other } of diff.context) {
      const mark = MARKS[change];
      terminal.print(
        `${mark} context.${oneLine(key)}: ${brief(one, change !== "only_b")} → ${brief(other, change !== "only_a")}`,
      );
    }
    const counts = `${diff.same} the same, ${diff.changed} changed, ${diff.onlyA} only in A, ${diff.onlyB} only in B`;
    terminal.print(counts);
    if (diff.isCut) terminal.note("There is more than is shown here.");
    return EXIT.ok;
  } finally {
    await app.close();
  }
}

const MARKS = { same: "=", changed: "~", only_a: "-", only_b: "+" } as const;

function took({ a, b }: Step): string {
  return `${a?.durationMs ?? "-"}/${b?.durationMs ?? "-"}`;
}

function spent({ a, b }: Step): string {
  return `${a?.energyUnits ?? "-"}/${b?.energyUnits ?? "-"}`;
}

function what({ change, differs, a, b }: Step): string {
  const only = a ?? b;
  if (a === undefined || b === undefined) return only === undefined ? "" : `${only.toolId} ${outcome(only)}`;
  if (change === "same") return "";
  const parts = differs.map((part) => {
    switch (part) {
      case "tool":
        return `tool ${a.toolId} → ${b.toolId}`;
      case "state":
        return `${a.state} → ${b.state}`;
      case "arguments":
        return `arguments ${brief(a.arguments)} → ${brief(b.arguments)}`;
      case "output":
        return `output ${brief(a.output, a.state === "finished")} → ${brief(b.output, b.state === "finished")}`;
      case "error":
        return `error ${a.error?.code ?? "-"} → ${b.error?.code ?? "-"}`;
    }
  });
  return oneLine(parts.join("; "));
}

function outcome({ state, output, error }: Call): string {
  return error === undefined ? `${state} ${brief(output, state === "finished")}` : `${state} ${error.code}`;
}

/** A value that is there and was not sent along is a long one. */
function brief(value: unknown, isThere = true): string {
  if (value === undefined) return isThere ? "(long)" : "-";
  const text = oneLine(printable(JSON.stringify(value)));
  return text.length <= BRIEF_CHARS ? text : `${text.slice(0, BRIEF_CHARS - 1)}…`;
}

const BRIEF_CHARS = 60;
