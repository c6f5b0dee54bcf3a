import type { Json, MCPResponse } from "@ergon/core";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { oneLine, printable } from "./printable.ts";
import { describeValue } from "./session-report.ts";
import type { Terminal } from "./terminal.ts";

const NEXT_SHOWN = 5;

export function exitCodeForAnswer({ success, data }: MCPResponse): ExitCode {
  if (success) return EXIT.ok;
  return data?.trace?.["status"] === "paused_on_human" ? EXIT.paused : EXIT.failed;
}

/** What a turn of the loop came to: the answer on stdout, what could follow beside it. */
export function reportAnswer(terminal: Terminal, sessionId: string, response: MCPResponse): void {
  if (terminal.json) {
    terminal.printJson({ sessionId, ...response });
    return;
  }
  const { red, yellow } = terminal.errorColors;
  if (!response.success) {
    const waits = exitCodeForAnswer(response) === EXIT.paused;
    terminal.note(waits ? yellow(oneLine(response.error)) : red(`failed: ${oneLine(response.error)}`));
    if (waits)
      terminal.note(`See what it waits for, and how to answer: ${terminal.command} sessions show ${sessionId}`);
    return;
  }
  const { summaryMessage, intermediateResults, trace } = response.data;
  for (const { message } of warningsOf(trace["warnings"])) terminal.note(yellow(oneLine(message)));
  const last = intermediateResults.findLast(({ success }) => success);
  if (summaryMessage !== undefined) terminal.print(printable(summaryMessage));
  else terminal.print(last === undefined ? "Nothing was found." : describeValue(last.output, terminal));
  tellNext(
    terminal,
    sessionId,
    intermediateResults.map(({ output }) => output),
  );
}

function tellNext(terminal: Terminal, sessionId: string, outputs: readonly Json[]): void {
  const { dim } = terminal.errorColors;
  const next = outputs.flatMap(nextActionsOf).slice(0, NEXT_SHOWN);
  if (next.length > 0) terminal.note(`\nNext you could:\n${next.map((line) => `  - ${oneLine(line)}`).join("\n")}`);
  terminal.note(dim(`Go on in this session: ${terminal.command} ask --session ${sessionId} "…"`));
}

function nextActionsOf(output: Json): readonly string[] {
  const { nextActions } = (typeof output === "object" && output !== null ? output : {}) as {
    readonly nextActions?: unknown;
  };
  if (!Array.isArray(nextActions)) return [];
  return nextActions.flatMap((action: { readonly description?: unknown } | null) =>
    typeof action?.description === "string" ? [action.description] : [],
  );
}

function warningsOf(warnings: Json | undefined): readonly { readonly message: string }[] {
  return Array.isArray(warnings) ? (warnings as { readonly message: string }[]) : [];
}
