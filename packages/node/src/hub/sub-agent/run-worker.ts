import { mkdirSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import type { Logger } from "@ergon/core";
import { createMcpConnector } from "../connection/connector.ts";
import { openRegistryCache } from "../install/registry-cache.ts";
import { createRegistryClient } from "../install/registry-client.ts";
import { createWork } from "./work.ts";
import { type Channel, serveOrders } from "./worker.ts";

export type RunWorkerOptions = {
  readonly dataFolder: string;
  readonly registryUrl: string;
  readonly logger: Logger;
  readonly channel: Channel;
  /** What fenced servers never see. */
  readonly own: readonly string[];
};

/** Where servers are installed, each in a folder of its own. */
export function serversFolder(dataFolder: string): string {
  return join(dataFolder, "servers");
}

/** The sub-agent's process: serves orders until the channel to its owner closes. */
export function runSubAgentWorker({ dataFolder, registryUrl, logger, channel, own }: RunWorkerOptions): void {
  const folder = serversFolder(dataFolder);
  // An npm that unpacks must not take the processor from those who talk; what is started here inherits it.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const client = createRegistryClient(registryUrl);
  const now = (): number => Date.now();
  const cache = openRegistryCache({ path: join(dataFolder, "registry.db"), client, now, logger });
  serveOrders(
    channel,
    createWork({ folder, client, cache, connector: createMcpConnector({ logger, fence: { own } }), now }),
  );
}
