import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { storeError, usageError } from "@ergon/core/schema";
import {
  describeFolder,
  type FolderDescription,
  processEnvironment,
  readProjectFile,
  stateFolder,
  trustFolder,
  trustProject,
} from "@ergon/node";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { oneLine, printable } from "../output/printable.ts";
import { table } from "../output/table.ts";
import type { Terminal } from "../output/terminal.ts";

/** A person says that a data folder is theirs; what is in it is shown, and nothing of it is opened. */
export async function trust(
  { terminal }: CommandContext,
  folder: string,
  { dryRun }: { readonly dryRun?: boolean },
): Promise<ExitCode> {
  const path = resolve(folder);
  const project = readProjectFile(path);
  if (project.state !== "absent") return trustSettings(terminal, path, project, dryRun !== true);
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

/** A project: what its `ergon.config.json` says is shown, and read from now on. */
async function trustSettings(
  terminal: Terminal,
  path: string,
  project: Exclude<ReturnType<typeof readProjectFile>, { state: "absent" }>,
  trusted: boolean,
): Promise<ExitCode> {
  if (project.state === "broken") {
    throw usageError("input_invalid", `${project.file} cannot be used: ${project.reason}.`);
  }
  const { file, values } = project;
  if (trusted) await trustProject(stateFolder(processEnvironment().env), path);
  if (terminal.json) {
    terminal.printJson({ folder: path, file, settings: values, trusted });
    return EXIT.ok;
  }
  terminal.print(printable(JSON.stringify(values, undefined, 2)));
  terminal.note(
    trusted
      ? `${oneLine(file)} is read from now on: commands in this folder run the code and servers that it names.`
      : "Nothing was changed. Without --dry-run the file is read from now on.",
  );
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
