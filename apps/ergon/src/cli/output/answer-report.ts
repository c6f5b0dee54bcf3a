import { isBlobRef, type Json, type MCPResponse } from "@ergon/core";
import { describeResult } from "@ergon/core/planner";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { oneLine, printable } from "./printable.ts";
import { describeValue } from "./session-report.ts";
import type { Terminal } from "./terminal.ts";

const NEXT_SHOWN = 5;

/** A question back waits for its answer, as an approval does. */
export function exitCodeForAnswer({ success, data }: MCPResponse): ExitCode {
  if (data?.outcome === "waiting") return EXIT.paused;
  return success ? EXIT.ok : EXIT.failed;
}

/** What a turn of the loop came to: the answer on stdout, what could follow beside it. */
export function reportAnswer(terminal: Terminal, sessionId: string, response: MCPResponse): void {
  if (terminal.json) {
    terminal.printJson({ sessionId, ...withoutVector(response) });
    return;
  }
  const { red, yellow } = terminal.errorColors;
  for (const { message } of warningsOf(response.data?.trace?.["warnings"])) terminal.note(yellow(oneLine(message)));
  if (!response.success) {
    const { outcome, waiting = [] } = response.data ?? {};
    const waits = outcome === "waiting";
    terminal.note(waits ? yellow(oneLine(response.error)) : red(`failed: ${oneLine(response.error)}`));
    if (waits)
      terminal.note(`See what it waits for, and how to answer: ${terminal.command} sessions show ${sessionId}`);
    for (const { approvalId } of waiting)
      if (approvalId !== undefined)
        terminal.note(`Answer with: ${terminal.command} approvals approve ${approvalId}   (or deny)`);
    return;
  }
  const { summaryMessage, intermediateResults } = response.data;
  const last = intermediateResults.findLast(({ success }) => success);
  if (summaryMessage !== undefined) terminal.print(printable(summaryMessage));
  else terminal.print(last === undefined ? "Nothing was found." : told(last.output, terminal));
  tellNext(
    terminal,
    sessionId,
    intermediateResults.map(({ output }) => output),
  );
}

function told(output: Json, terminal: Terminal): string {
  return isBlobRef(output) ? describeValue(output, terminal) : printable(describeResult(output));
}

/** The message as a vector is the loop's own business, and longer than all the rest. */
function withoutVector(response: MCPResponse): MCPResponse {
  if (response.data?.context === undefined) return response;
  const { embeddedMessage: _vector, ...context } = response.data.context;
  return { ...response, data: { ...response.data, context } } as MCPResponse;
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
