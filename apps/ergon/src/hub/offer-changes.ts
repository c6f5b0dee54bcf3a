import type { HubChange, ServerOffer } from "@ergon/core";

/** Tells when lists of resources and prompts may be others: a server says so, or comes, or goes. */
export function offerChanges(tell: (offer: ServerOffer) => void): (change: HubChange) => void {
  const connected = new Set<string>();
  return (change) => {
    if (change.kind === "offers") tell(change.offer);
    if (change.kind !== "server" || connected.has(change.status.id) === change.status.connected) return;
    if (change.status.connected) connected.add(change.status.id);
    else connected.delete(change.status.id);
    tell("resources");
    tell("prompts");
  };
}
