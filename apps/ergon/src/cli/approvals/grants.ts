import type { ToolGrant } from "@ergon/core/schema";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { oneLine } from "../output/printable.ts";
import { table } from "../output/table.ts";
import { wholeNumber } from "../read-args.ts";
import { LOOK, orEmpty, throughOwner } from "../../workspace/through-owner.ts";

export type GrantsOptions = { readonly limit: string; readonly cursor?: string };

/** What is called without asking. */
export async function listGrants(
  { terminal, compose }: CommandContext,
  { limit, cursor }: GrantsOptions,
): Promise<ExitCode> {
  const query = { limit: wholeNumber(limit, "--limit"), ...(cursor === undefined ? {} : { cursor }) };
  const app = await compose();
  try {
    const page = await orEmpty(
      throughOwner(app, LOOK, ({ approvals }) => approvals.grants(query)),
      { items: [] },
    );
    if (terminal.json) terminal.printJson(page);
    else if (page.items.length === 0) terminal.note("Nothing is allowed for good.");
    else {
      terminal.print(table(page.items.map(row), { columns: terminal.columns, header: COLUMNS }));
      if (page.nextCursor !== undefined) terminal.note(`There are more: --cursor '${page.nextCursor}'`);
      terminal.note(`Ask about one again: ${terminal.command} approvals revoke TOOL.`);
    }
    return EXIT.ok;
  } finally {
    await app.close();
  }
}

export async function revokeGrant({ terminal, compose }: CommandContext, toolId: string): Promise<ExitCode> {
  const app = await compose();
  try {
    const work = { ...LOOK, repeatable: false };
    const revoked = await throughOwner(app, work, ({ approvals }) => approvals.revoke(toolId));
    if (terminal.json) terminal.printJson({ revoked });
    else terminal.print(`${oneLine(revoked.toolId)} is asked about again`);
    return EXIT.ok;
  } finally {
    await app.close();
  }
}

const COLUMNS = ["TOOL", "SERVER", "ALLOWED BY", "SINCE", "FINGERPRINT"] as const;
const SHOWN_FINGERPRINT_CHARS = 12;

function row({ toolId, serverId = "-", grantedBy, grantedAt, pinned, fingerprint }: ToolGrant): readonly string[] {
  const by = pinned === true && grantedBy !== "the configuration" ? `${grantedBy}, in the configuration` : grantedBy;
  return [toolId, serverId, by, grantedAt, fingerprint.slice(0, SHOWN_FINGERPRINT_CHARS)].map(oneLine);
}
