import { homedir } from "node:os";
import { resolve } from "node:path";
import { usageError } from "@ergon/core/schema";
import type { MCPServerConfig } from "@ergon/core/hub";
import { limitedAccessMissing } from "@ergon/node";
import { defaultAccess } from "./default-access.ts";

/** What the person who adds a server says of its fence. */
export type FenceWish = {
  readonly cwd?: string;
  /** False when the person wants no fence. */
  readonly fence?: boolean;
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  /** False when it may not use the network. */
  readonly network?: boolean;
};

/** Fences a server that is started here where that can be, and says why where it is not. Limits that were asked for are kept, or refused. */
export async function fenceServer(
  config: MCPServerConfig,
  { fence = true, read = [], write = [], network = true, cwd = "." }: FenceWish,
  lookForMissing: () => Promise<string | undefined> = limitedAccessMissing,
): Promise<{ readonly config: MCPServerConfig; readonly unfenced?: string }> {
  const { command, args = [] } = config;
  const unfenced = (why: string): { readonly config: MCPServerConfig; readonly unfenced: string } => {
    if (read.length === 0 && write.length === 0 && network) return { config, unfenced: why };
    throw usageError("usage", `--read, --write and --no-network need a fence around its command: ${why}`);
  };
  if (command === undefined) return unfenced("it has none, only an address");
  if (!fence) return unfenced("--no-fence was given");
  const missing = await lookForMissing();
  if (missing !== undefined) return unfenced(missing);
  const fenced = defaultAccess({ command, args, cwd: resolve(cwd), home: homedir() });
  if (fenced === undefined) return unfenced(`${command} needs what a fence takes away, and starts a container instead`);
  const { access, ...rest } = fenced;
  const folders = (named: readonly string[], more: readonly string[] = []): string[] => [
    ...new Set([...more, ...named.map((one) => resolve(one))]),
  ];
  const limits = { read: folders(read, access?.read), write: folders(write, access?.write), network };
  return { config: { ...config, ...rest, access: limits } };
}

export function describeFence({ id, access }: MCPServerConfig, unfenced = ""): string {
  if (access === undefined)
    return `"${id}" runs unfenced (${unfenced.replace(/\.$/, "")}): it can read and change all your files, read Ergon's tokens and keys, approve its own calls and use your other servers. Add only what you trust with that. docs/guides/servers.md says how to fence it.`;
  const { read = [], write = [], network } = access;
  const reads = ["its program", ...read].join(", ");
  const writes = write.length === 0 ? "nothing" : write.join(", ");
  const reaches = network === true ? "It may use the network." : "It has no network.";
  return `"${id}" is fenced: it reads ${reads}; it writes ${writes}. ${reaches} It sees nothing of Ergon's own. Give it more with --read DIR and --write DIR, or all your rights with --no-fence.`;
}
