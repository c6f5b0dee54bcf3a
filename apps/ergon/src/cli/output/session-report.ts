import { isBlobRef, type Json, type SessionCore } from "@ergon/core";
import type { SessionView } from "@ergon/core/engine";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { answerForm } from "./answer-form.ts";
import { inLines, oneLine, printable } from "./printable.ts";
import type { Terminal } from "./terminal.ts";

/** How a command ends whose session has settled. */
export function exitCodeFor({ status }: SessionCore): ExitCode {
  switch (status) {
    case "completed":
    case "paused":
    case "running":
      return EXIT.ok;
    case "failed":
    case "cancelled":
      return EXIT.failed;
    case "paused_on_human":
      return EXIT.paused;
    case "paused_on_error":
      return EXIT.pausedOnError;
  }
}

/** What a session has come to: its answer, or what it waits for and how to go on. */
export function reportSession(terminal: Terminal, { core, context }: SessionView): void {
  const answer = context["finalResponse"];
  if (terminal.json) {
    terminal.printJson({
      sessionId: core.sessionId,
      core,
      ...(answer === undefined ? {} : { finalResponse: answer }),
      context,
    });
    return;
  }
  const { bold, green, red, yellow } = terminal.colors;
  switch (core.status) {
    case "completed":
      terminal.print((answer ?? null) === null ? green("completed") : describeValue(answer as Json, terminal));
      return;
    case "failed":
    case "cancelled":
      terminal.print(red(core.status) + (core.lastError === undefined ? "" : `: ${oneLine(core.lastError.message)}`));
      return;
    case "paused":
    case "running":
      terminal.print(
        [yellow(core.status), ...core.waiting.map(({ path, message }) => `${path}: ${oneLine(message)}`)].join("\n"),
      );
      return;
    case "paused_on_human":
    case "paused_on_error":
      for (const wait of core.waiting) {
        const what = wait.kind === "error" ? red(wait.error?.code ?? "error") : yellow(WAITS[wait.kind]);
        terminal.print(`${what} at ${bold(wait.path)}: ${inLines(wait.message)}`);
        if (wait.correction !== undefined)
          terminal.print(`  ${yellow("proposed")}: ${oneLine(wait.correction.summary)}`);
      }
      for (const line of howToGoOn(core, terminal.command)) terminal.note(line);
  }
}

export function describeValue(value: Json, { command }: Pick<Terminal, "command">): string {
  if (typeof value === "string") return printable(value);
  if (isBlobRef(value))
    return `a blob of ${value.bytes} bytes (${value.mediaType}): ${command} blobs get ${value.$blob}`;
  return printable(JSON.stringify(value, undefined, 2));
}

const WAITS = {
  human: "waiting for you",
  approval: "waiting for your approval",
  error: "error",
  time: "waiting",
  energy: "waiting",
} as const;

function howToGoOn({ sessionId, waiting }: SessionCore, command: string): readonly string[] {
  const lines: string[] = [];
  const answerable = waiting.filter(({ kind }) => kind === "human" || kind === "error");
  const [first] = answerable;
  if (first !== undefined) {
    const step = answerable.length > 1 ? ` --step '${first.path}'` : "";
    lines.push(`Go on with: ${command} resume ${sessionId}${step} --input ${exampleAnswer(first)}`);
  }
  const [asked, ...more] = waiting.flatMap(({ approvalId }) => (approvalId === undefined ? [] : [approvalId]));
  if (asked !== undefined) {
    const others = more.length === 0 ? "" : `   (${String(more.length)} more: ${command} approvals)`;
    lines.push(`See what it would do: ${command} approvals show ${asked}${others}`);
    lines.push(`Then answer with: ${command} approvals approve ${asked}   (or deny)`);
  }
  return lines;
}

function exampleAnswer(wait: SessionCore["waiting"][number]): string {
  const { kind, error, correction } = wait;
  if (kind === "human") return answerForm(wait);
  if (correction?.accepted === false) return `'{"action":"accept"}'   (or refuse, retry, skip, abort)`;
  const decision = `'{"action":"retry"}'   (or skip, or abort)`;
  if (error?.code !== "outcome_unknown") return decision;
  return `'{"happened":{}}'   with its result in the place of {}, if it took effect; else ${decision}`;
}
