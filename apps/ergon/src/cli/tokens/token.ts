import { accessError, usageError } from "@ergon/core/schema";
import { TokenScope } from "@ergon/node";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { table } from "../output/table.ts";
import { LOOK, orEmpty, throughOwner } from "../../workspace/through-owner.ts";

export async function addToken(
  { terminal, compose }: CommandContext,
  { name, scope }: { readonly name: string; readonly scope: string },
): Promise<ExitCode> {
  const wanted = TokenScope.safeParse(scope);
  if (!wanted.success) throw usageError("input_invalid", `--scope is agent or person, not "${scope}".`);
  const app = await compose();
  try {
    const work = { recover: false, repeatable: false };
    const added = await throughOwner(app, work, ({ tokens }) => tokens.add(name, wanted.data));
    if (terminal.json) {
      terminal.printJson(added);
      return EXIT.ok;
    }
    // Alone on stdout, so that it can be piped where it is needed.
    terminal.print(added.token);
    terminal.note(`This is the only time that the token of "${added.name}" (${added.scope}) is shown.`);
    return EXIT.ok;
  } finally {
    await app.close();
  }
}

export async function listTokens({ terminal, compose }: CommandContext): Promise<ExitCode> {
  const app = await compose();
  try {
    const items = await orEmpty(
      throughOwner(app, LOOK, ({ tokens }) => tokens.list()),
      [],
    );
    if (terminal.json) {
      terminal.printJson({ items });
      return EXIT.ok;
    }
    if (items.length === 0) {
      terminal.note(`No tokens beside the first one. Make one: ${terminal.command} token add NAME`);
      return EXIT.ok;
    }
    const rows = items.map(({ name, scope, createdBy, createdAt }) => [name, scope, createdBy, createdAt]);
    terminal.print(table(rows, { columns: terminal.columns, header: ["NAME", "SCOPE", "MADE BY", "MADE AT"] }));
    return EXIT.ok;
  } finally {
    await app.close();
  }
}

/** Alone on stdout, so that it can be piped where it is needed. */
export async function showToken({ terminal, compose }: CommandContext): Promise<ExitCode> {
  const app = await compose();
  const token = await app.firstToken();
  if (token === undefined) {
    const remedy = `${terminal.command} serve makes one.`;
    throw accessError("token_not_found", `${app.settings.values.data} has no first token yet; ${remedy}`);
  }
  if (terminal.json) terminal.printJson({ token });
  else terminal.print(token);
  return EXIT.ok;
}

export async function revokeToken({ terminal, compose }: CommandContext, name: string): Promise<ExitCode> {
  const app = await compose();
  try {
    await throughOwner(app, { recover: false, repeatable: false }, ({ tokens }) => tokens.revoke(name));
    if (terminal.json) terminal.printJson({ revoked: name });
    else terminal.print(`token ${name} revoked`);
    return EXIT.ok;
  } finally {
    await app.close();
  }
}
