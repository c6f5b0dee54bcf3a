import type { Engine, StoredEvent } from "@ergon/core";
import type { McpCall } from "./surface.ts";

/** Tells a client of a session's steps as they happen, until it is stopped. */
export function followProgress(engine: Engine, { owner, signal, progress }: McpCall, sessionId: string): () => void {
  const stopping = new AbortController();
  const both = AbortSignal.any([signal, stopping.signal]);
  const follow = async (): Promise<void> => {
    let steps = 0;
    for await (const event of engine.follow({ owner, sessionId, afterSeq: 0, signal: both })) {
      const message = describe(event);
      if (message === undefined || both.aborted) continue;
      steps += 1;
      progress({ progress: steps, message });
    }
  };
  // When following breaks, so does the waiting beside it, and that is what the client hears.
  follow().catch(() => undefined);
  return () => stopping.abort();
}

function describe({ type, data }: StoredEvent): string | undefined {
  const step = typeof data["stepId"] === "string" ? data["stepId"] : "a step";
  switch (type) {
    case "step-started":
      return `${step} started`;
    case "step-progressed":
      return typeof data["message"] === "string" ? `${step}: ${data["message"]}` : `${step} goes on`;
    case "step-finished":
      return `${step} finished`;
    case "step-failed":
      return `${step} failed`;
    default:
      return undefined;
  }
}
