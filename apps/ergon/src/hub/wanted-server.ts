import type { MCPServerConfig, WantedServer } from "@ergon/core/hub";
import { type AllowedServers, expandServer } from "@ergon/node";

export type FoundServers = {
  readonly path: string;
  /** A person named the file; else it was found by the working directory. */
  readonly isNamed: boolean;
  readonly allowed: Pick<AllowedServers, "has">;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** A server of the configuration as it may be started, or what keeps it from being. */
export async function wantedServer(server: MCPServerConfig, found: FoundServers): Promise<WantedServer> {
  const expanded = expandServer(server, found.environment);
  if (found.isNamed || (await found.allowed.has(found.path, server))) return expanded;
  const problem = `${found.path} was found here, not named by you. Look at what it starts, then: ergon servers approve ${server.id}`;
  return { ...expanded, problem, needsApproval: true };
}
