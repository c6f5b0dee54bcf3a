import type { StoredEvent } from "@ergon/core";
import type { Engine } from "@ergon/core/engine";
import type { Progress } from "@modelcontextprotocol/server";
import type { McpCall } from "../host/surface.ts";

/** Says one event after the other as progress; undefined where there is nothing to say. */
export type ProgressReader = (event: StoredEvent) => Progress | undefined;

/** Tells a client of what happens in a session, until it is stopped. */
export function followProgress(
  engine: Engine,
  { owner, signal, progress }: McpCall,
  sessionId: string,
  tell: ProgressReader = tellSteps(),
): () => void {
  const stopping = new AbortController();
  const both = AbortSignal.any([signal, stopping.signal]);
  const follow = async (): Promise<void> => {
    for await (const event of engine.follow({ owner, sessionId, afterSeq: 0, signal: both })) {
      const told = both.aborted ? undefined : tell(event);
      if (told !== undefined) progress(told);
    }
  };
  // When following breaks, so does the waiting beside it, and that is what the client hears.
  follow().catch(() => undefined);
  return () => stopping.abort();
}

/** Of a plan: how many things have happened. */
export function tellSteps(): ProgressReader {
  let steps = 0;
  return (event) => {
    const message = describe(event);
    if (message === undefined) return undefined;
    steps += 1;
    return { progress: steps, message };
  };
}

/** Of a single call: what its tool says of itself, in hundredths of the whole where it says how much there is. */
export function tellCall(): ProgressReader {
  let last = 0;
  return ({ type, data }) => {
    if (type !== "step-progressed") return undefined;
    const { fraction, message } = updateIn(data);
    const now = fraction === undefined ? last + 1 : percent(fraction);
    // The protocol wants progress to grow.
    if (now <= last) return undefined;
    last = now;
    return {
      progress: now,
      ...(fraction === undefined ? {} : { total: 100 }),
      ...(message === undefined ? {} : { message }),
    };
  };
}

function describe({ type, data }: StoredEvent): string | undefined {
  const step = typeof data["stepId"] === "string" ? data["stepId"] : "a step";
  switch (type) {
    case "step-started":
      return `${step} started`;
    case "step-progressed": {
      const { fraction, message } = updateIn(data);
      const said = [
        ...(fraction === undefined ? [] : [`${String(percent(fraction))} %`]),
        ...(message === undefined ? [] : [message]),
      ];
      return `${step}: ${said.join(", ")}`;
    }
    case "step-finished":
      return `${step} finished`;
    case "step-failed":
      return `${step} failed`;
    default:
      return undefined;
  }
}

function updateIn({ fraction, message }: StoredEvent["data"]): {
  readonly fraction?: number;
  readonly message?: string;
} {
  return {
    ...(typeof fraction === "number" ? { fraction } : {}),
    ...(typeof message === "string" ? { message } : {}),
  };
}

function percent(fraction: number): number {
  return Math.round(fraction * 10_000) / 100;
}
