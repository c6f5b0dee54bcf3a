import type { StoredEvent } from "@ergon/core";

export type ChangedResource = { readonly owner: string; readonly uri: string };

/** The resources that events concern, each once, however many of them do. */
export function changedResources(events: readonly StoredEvent[]): Iterable<ChangedResource> {
  const found = new Map<string, ChangedResource>();
  for (const { owner, sessionId, type, data } of events) {
    const loopId = type === "loop-decided" ? data["loopId"] : undefined;
    const uri = typeof loopId === "string" ? `ergon://loops/${loopId}` : `ergon://sessions/${sessionId ?? ""}`;
    if (loopId !== undefined || sessionId !== undefined) found.set(`${owner}\0${uri}`, { owner, uri });
  }
  return found.values();
}
