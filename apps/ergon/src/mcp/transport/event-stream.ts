import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";

const KEEP_ALIVE_MS = 15_000;
/** Whoever has left more than this unread is let go when there is more to send. */
export const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

export type EventStream = {
  /** Tells the other side that there is a stream, before there is anything to send. */
  readonly begin: () => void;
  readonly send: (message: JSONRPCMessage) => void;
  readonly end: (last?: JSONRPCMessage) => void;
};

/** Messages as events on one HTTP answer. An answer that is there at once goes out whole, in one write. */
export function openEventStream(response: ServerResponse, given: OutgoingHttpHeaders, gone: AbortSignal): EventStream {
  let keepAlive: NodeJS.Timeout | undefined;
  const headers = { ...given, ...EVENT_STREAM };
  const isOver = (): boolean => response.writableEnded || response.destroyed;

  const begin = (): void => {
    if (response.headersSent || isOver()) return;
    response.writeHead(200, headers).flushHeaders();
    keepAlive = setInterval(() => response.write(": still at it\n\n"), KEEP_ALIVE_MS).unref();
  };
  const send = (message: JSONRPCMessage): void => {
    begin();
    if (isOver()) return;
    if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
    else response.write(eventOf(message));
  };
  const end = (last?: JSONRPCMessage): void => {
    if (isOver()) return;
    const text = last === undefined ? "" : eventOf(last);
    if (response.headersSent) response.end(text);
    else response.writeHead(200, { ...headers, "content-length": Buffer.byteLength(text) }).end(text);
  };

  // A write that meets a closing connection; `gone` is what tells.
  response.on("error", () => undefined);
  response.once("close", () => clearInterval(keepAlive));
  if (gone.aborted) end();
  gone.addEventListener("abort", () => end(), { once: true });
  // Whoever waits for longer than a turn of the event loop sees that somebody is there.
  setImmediate(begin);
  return { begin, send, end };
}

function eventOf(message: JSONRPCMessage): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}

const EVENT_STREAM = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};
