import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { stateFolder } from "./ownership/state-folder.ts";

/**
 * What is Ergon's own and nobody's to read or write but Ergon's: the data folder, the hub's configuration, the user's state
 * folder. Fenced servers do not see it and data tools do not open it, wherever it lies.
 */
export function ownPaths(
  { data, mcpConfig }: { readonly data: string; readonly mcpConfig: string },
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  return [data, mcpConfig, stateFolder(environment)];
}

/** Where fenced servers that download their programs keep them, each in a home of its own. */
export function serverHomes(environment: Readonly<Record<string, string | undefined>>): string {
  const named = environment["XDG_CACHE_HOME"];
  return join(named !== undefined && isAbsolute(named) ? named : join(homedir(), ".cache"), "ergon", "servers");
}
