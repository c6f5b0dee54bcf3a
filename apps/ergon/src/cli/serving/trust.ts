import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { storeError } from "@ergon/core";
import { describeFolder, type FolderDescription, processEnvironment, stateFolder, trustFolder } from "@ergon/node";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { oneLine } from "../output/printable.ts";
import { table } from "../output/table.ts";
import type { Terminal } from "../output/terminal.ts";

/** A person says that a data folder is theirs; what is in it is shown, and nothing of it is opened. */
export async function trust(
  { terminal }: CommandContext,
  folder: string,
  { dryRun }: { readonly dryRun?: boolean },
): Promise<ExitCode> {
  const path = resolve(folder);
  const description = describe(path);
  const trusted = dryRun !== true;
  if (trusted) await trustFolder({ path, stateFolder: stateFolder(processEnvironment().env) });
  if (terminal.json) terminal.printJson({ ...description, trusted });
  else {
    show(terminal, description);
    terminal.note(
      trusted ? `${oneLine(path)} is trusted now.` : "Nothing was changed. Without --dry-run it is trusted.",
    );
  }
  return EXIT.ok;
}

function describe(path: string): FolderDescription {
  if (existsSync(path)) return describeFolder(path);
  throw storeError("folder_absent", `There is no folder ${path} to trust.`);
}

function show(terminal: Terminal, { folder, uid, mode, count, entries }: FolderDescription): void {
  terminal.print(`${oneLine(folder)}: ${String(count)} entries, mode ${mode}, user ${String(uid)}`);
  if (count === 0) return;
  const rows = entries.map((entry) => [
    oneLine(entry.name),
    entry.kind,
    entry.mode,
    String(entry.uid),
    String(entry.bytes),
    entry.modifiedAt,
  ]);
  const { columns } = terminal;
  terminal.print(table(rows, { columns, header: ["NAME", "KIND", "MODE", "USER", "BYTES", "CHANGED"] }));
  if (count > entries.length) terminal.print(`and ${String(count - entries.length)} more`);
}
