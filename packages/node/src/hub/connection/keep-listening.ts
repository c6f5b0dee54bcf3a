import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/client";
import { backoffMs } from "@ergon/core/hub";

export type ListeningParts = {
  /** Nobody knows what changed while nobody listened. */
  readonly onAnyChanged: () => void;
  /** Aborts when the connection is over. */
  readonly over: AbortSignal;
};

/** A subscription that lived for less was dropped at once; asking again and again would be a loop. */
const LIVED_MS = 30_000;

/** The SDK does not open a subscription again that was dropped; without one, changes go unseen. */
export async function keepListening(client: Client, { onAnyChanged, over }: ListeningParts): Promise<void> {
  let subscription = client.autoOpenedSubscription;
  if (subscription === undefined) return;
  const { tools, resources, prompts } = client.getServerCapabilities() ?? {};
  const wishes = {
    ...(tools?.listChanged === true ? { toolsListChanged: true } : {}),
    ...(resources?.listChanged === true ? { resourcesListChanged: true } : {}),
    ...(prompts?.listChanged === true ? { promptsListChanged: true } : {}),
  };
  for (let drops = 0; ;) {
    const sinceMs = performance.now();
    const how = await subscription?.closed;
    if (how === "local" || over.aborted) return;
    drops = performance.now() - sinceMs >= LIVED_MS ? 1 : drops + 1;
    const isOver = await sleep(backoffMs(drops, Math.random()), false, { signal: over, ref: false }).catch(() => true);
    if (isOver) return;
    subscription = await client.listen(wishes, { signal: over }).catch(() => undefined);
    if (subscription !== undefined) onAnyChanged();
  }
}
