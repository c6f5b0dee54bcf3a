import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** How a person types this program's name here: a hint is of no use when the shell does not find what it names. */
export function typedCommand(env: Readonly<Record<string, string | undefined>>): string {
  // npm puts its own folders before the PATH of what it starts; the shell that is left behind has none of them.
  if (env["npm_command"] !== undefined) return "npx ergon";
  const folders = (env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "" && !/node_modules.\.bin.?$/.test(folder));
  return folders.some((folder) => existsSync(join(folder, "ergon"))) ? "ergon" : "npx ergon";
}
