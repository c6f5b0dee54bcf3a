import type { Approval } from "@ergon/core";
import { oneLine, printable } from "./printable.ts";
import type { Terminal } from "./terminal.ts";

/**
 * What a person says yes or no to. What servers and models wrote stands behind a bar, line by line: nothing of it can be
 * taken for what Ergon says.
 */
export function describeApproval({ colors }: Pick<Terminal, "colors">, approval: Approval): string {
  const { bold, dim, yellow } = colors;
  const { id, tool, server, state, parameters, reason, changes = [] } = approval;
  const from = server === null ? "" : dim(` of the MCP server ${oneLine(server)}`);
  const lines = [
    `${bold(id)}  ${state === "pending" ? yellow(state) : state}`,
    `  tool        ${bold(oneLine(tool))}${from}`,
    `  asked by    ${oneLine(approval.owner)}${where(approval)}`,
    `  why asked   ${oneLine(reason)}`,
    `  energy      about ${String(Math.round(approval.estimatedEnergyCost * 100) / 100)} units`,
    ...(state === "pending" ? [`  open until  ${approval.expiresAt}`] : decided(approval)),
    "  would be called with",
    ...quoted(JSON.stringify(parameters, undefined, 2)),
  ];
  if (approval.description !== undefined) lines.push("  says of itself", ...quoted(approval.description));
  for (const { field, before, after } of changes)
    lines.push(
      `  ${yellow("changed")} since it was allowed: ${oneLine(field)}, was`,
      ...quoted(before),
      "  and is now",
      ...quoted(after),
    );
  if (approval.fingerprint !== null) lines.push(dim(`  fingerprint ${approval.fingerprint}`));
  return lines.join("\n");
}

/** For a list: everything that fits in a line. */
export function approvalRow(approval: Approval): readonly string[] {
  const { id, state, tool, sessionId = "-", requestedAt, parameters } = approval;
  return [id, state, oneLine(tool), sessionId, requestedAt, briefArguments(parameters)];
}

export function briefArguments(parameters: Approval["parameters"]): string {
  const args = oneLine(JSON.stringify(parameters));
  return args.length <= MAX_ROW_ARGUMENTS ? args : `${args.slice(0, MAX_ROW_ARGUMENTS - 1)}…`;
}

/** All of them are shown for one approval. */
const MAX_ROW_ARGUMENTS = 200;

export const APPROVAL_COLUMNS = ["ID", "STATE", "TOOL", "SESSION", "ASKED AT", "ARGUMENTS"] as const;

function where({ sessionId, step, conversationId }: Approval): string {
  const session = sessionId === undefined ? "" : `, session ${sessionId}`;
  const at = step === undefined ? "" : ` at ${oneLine(step)}`;
  return `${session}${at}${conversationId === undefined ? "" : `, conversation ${oneLine(conversationId)}`}`;
}

function decided({ decidedAt, decidedBy, feedback }: Approval): readonly string[] {
  if (decidedAt === undefined) return [];
  const said = feedback === undefined ? [] : ["  feedback", ...quoted(feedback)];
  return [`  decided     ${decidedAt}${decidedBy === undefined ? "" : ` by ${oneLine(decidedBy)}`}`, ...said];
}

function quoted(text: string): readonly string[] {
  return printable(text)
    .split("\n")
    .map((line) => `    │ ${line}`);
}
