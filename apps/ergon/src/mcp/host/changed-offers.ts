import type { StoredEvent } from "@ergon/core";
import type { ServerOffer } from "@ergon/core/hub";

/** The lists of resources and prompts that may be others after an event: a server said so, or came, or went. */
export function changedOffers({ type, data }: StoredEvent): readonly ServerOffer[] {
  if (type !== "server-changed") return [];
  const { offer, state } = data;
  if (offer === "resources" || offer === "prompts") return [offer];
  return state === "starting" || state === "degraded" ? [] : ["resources", "prompts"];
}
