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
