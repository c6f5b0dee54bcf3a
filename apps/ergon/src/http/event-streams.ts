/*
 * Events as they happen, over HTTP (server-sent events).
 *
 * V1  A reader sees every event once and in order; after a break it goes on behind the `Last-Event-ID` that it sends.
 * V2  Nothing is pulled for a reader whose connection is full: what it has not read waits in the outbox, not here.
 * V3  A reader that takes nothing for `stallMs` is closed, and may come back.
 */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { StoredEvent } from "@ergon/core";
import { SECURITY_HEADERS } from "./security-headers.ts";

export type StreamTimes = { readonly heartbeatMs: number; readonly stallMs: number };

const STREAM_TIMES: StreamTimes = { heartbeatMs: 15_000, stallMs: 30_000 };
/** How soon a client that lost its stream should ask again. */
const RETRY_MS = 1_000;

export type EventStreams = {
  /** Writes to the response until the client has gone or the signal aborts. */
  readonly run: (
    response: ServerResponse,
    headers: Readonly<Record<string, string>>,
    events: (signal: AbortSignal) => AsyncIterable<StoredEvent>,
    gone: AbortSignal,
  ) => Promise<void>;
  readonly count: () => number;
};

export function createEventStreams({ heartbeatMs, stallMs }: StreamTimes = STREAM_TIMES): EventStreams {
  const open = new Set<ServerResponse>();
  let heart: NodeJS.Timeout | undefined;

  // One timer for all readers.
  const beat = (): void => {
    for (const response of open) if (!response.writableNeedDrain) response.write(":\n\n");
  };
  const enter = (response: ServerResponse): void => {
    open.add(response);
    heart ??= setInterval(beat, heartbeatMs).unref();
  };
  const leave = (response: ServerResponse): void => {
    open.delete(response);
    if (open.size > 0) return;
    clearInterval(heart);
    heart = undefined;
  };

  return {
    count: () => open.size,
    run: async (response, headers, events, gone) => {
      response.writeHead(200, { ...SECURITY_HEADERS, ...headers, "content-type": "text/event-stream; charset=utf-8" });
      // A write that meets a closing connection; the request's own end is what tells.
      response.on("error", () => undefined);
      response.write(`retry: ${RETRY_MS}\n\n`);
      enter(response);
      try {
        for await (const event of events(gone)) {
          if (!writeTogether(response, frameOf(event)) && !(await drained(response, stallMs, gone))) break;
        }
      } finally {
        leave(response);
        if (response.writableNeedDrain) response.destroy();
        else response.end();
      }
    },
  };
}

function frameOf({ seq, type, ...rest }: StoredEvent): string {
  return `id: ${seq}\nevent: ${type}\ndata: ${JSON.stringify({ seq, type, ...rest })}\n\n`;
}

/** Frames of one turn of the event loop leave in one packet. */
function writeTogether(response: ServerResponse, text: string): boolean {
  if (response.writableCorked === 0) {
    response.cork();
    setImmediate(() => response.uncork());
  }
  return response.write(text);
}

/** False when the reader took too long, or has gone. */
async function drained(response: ServerResponse, stallMs: number, gone: AbortSignal): Promise<boolean> {
  try {
    await once(response, "drain", { signal: AbortSignal.any([gone, AbortSignal.timeout(stallMs)]) });
    return true;
  } catch {
    return false;
  }
}
