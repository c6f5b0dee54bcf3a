import { join, relative } from "node:path";
import { ToolId, usageError } from "@ergon/core/schema";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { NEW_PARTS, type PartName } from "./new-parts.ts";
import { writeNew } from "./write-new.ts";

/** Adds a part to the first folder of capabilities that the project names, and its test to `test/`. */
export async function addPart(
  { terminal, compose }: CommandContext,
  kind: keyof typeof NEW_PARTS,
  given: string,
): Promise<ExitCode> {
  const name = partName(kind, given);
  const app = await compose();
  const project = process.cwd();
  const [folder = join(project, "capabilities")] = app.settings.values.capabilities;
  const capabilities = relative(project, folder);
  const { capability, test } = NEW_PARTS[kind](name);
  const files = [
    { ...capability, path: join(capabilities, capability.path) },
    { ...test, path: join("test", test.path) },
  ];
  await writeNew(project, files);
  if (terminal.json) terminal.printJson({ id: name.id, files: files.map(({ path }) => path) });
  else for (const { path } of files) terminal.print(path);
  return EXIT.ok;
}

function partName(kind: keyof typeof NEW_PARTS, id: string): PartName {
  if (!ToolId.safeParse(id).success) {
    const message = `"${id}" is no name: use letters, digits, "_", "-" and "::", as in shop::charge.`;
    throw usageError("input_invalid", message);
  }
  const parts = id.split("::");
  const last = parts.at(-1) ?? id;
  if (kind === "action" && !/^[A-Za-z_]\w*$/.test(last)) {
    throw usageError("input_invalid", `"${last}" is no name of an action: it names a constant, as in chargeOrder.`);
  }
  if (kind === "plan" && parts.length > 1) {
    throw usageError("input_invalid", `"${id}" is no id of a plan: leave out "::", as in ${parts.join("-")}.`);
  }
  return { id, path: parts.join("/"), last };
}
