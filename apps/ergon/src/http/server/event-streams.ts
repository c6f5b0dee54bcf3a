/*
 * Events as they happen, over HTTP (server-sent events).
 *
 * V1  A reader sees every event once and in order; after a break it goes on behind the `Last-Event-ID` that it sends.
 * V2  Nothing is pulled for a reader whose connection is full: what it has not read waits in the outbox, not here. Readers
 *     that are up to date share what is pulled (`event-feeds.ts`).
 * V3  A reader that takes nothing for `stallMs` is closed, and may come back.
 */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createEventFeeds, type EventFeeds, type Follow, frameOf } from "./event-feeds.ts";
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
    source: EventSource,
    gone: AbortSignal,
  ) => Promise<void>;
  readonly count: () => number;
};

type EventSource = {
  readonly afterSeq: number;
  readonly follow: Follow;
  /** Streams with this key share one reading of what comes behind `liveSeq`. */
  readonly key: string;
  readonly liveSeq: number;
};

export function createEventStreams({ heartbeatMs, stallMs }: StreamTimes = STREAM_TIMES): EventStreams {
  const open = new Set<ServerResponse>();
  const feeds = createEventFeeds();
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
    run: async (response, headers, source, gone) => {
      response.writeHead(200, { ...SECURITY_HEADERS, ...headers, "content-type": "text/event-stream; charset=utf-8" });
      // A write that meets a closing connection; the request's own end is what tells.
      response.on("error", () => undefined);
      response.write(`retry: ${RETRY_MS}\n\n`);
      enter(response);
      try {
        await writeAll(response, source, { feeds, gone, stallMs });
      } finally {
        leave(response);
        if (response.writableNeedDrain) response.destroy();
        else response.end();
      }
    },
  };
}

type Around = { readonly feeds: EventFeeds; readonly gone: AbortSignal; readonly stallMs: number };

/** By itself until it is up to date, then together with the others, and by itself again when it falls behind. */
async function writeAll(response: ServerResponse, source: EventSource, around: Around): Promise<void> {
  const { key, liveSeq, follow } = source;
  const { feeds, gone, stallMs } = around;
  const mayJoin = (seq: number): boolean => seq >= liveSeq && feeds.mayJoin(key, seq);
  let seq: number | undefined = source.afterSeq;
  while (seq !== undefined && !gone.aborted) {
    seq = mayJoin(seq) ? await writeTogether(response, source, seq, around) : await writeAlone(seq);
  }

  /** Undefined when the reader has gone, or takes nothing. */
  async function writeAlone(afterSeq: number): Promise<number | undefined> {
    for await (const event of follow(afterSeq, gone)) {
      if (!writeInOnePacket(response, frameOf(event)) && !(await drained(response, stallMs, gone))) return undefined;
      if (mayJoin(event.seq)) return event.seq;
    }
    return undefined;
  }
}

/** Undefined when the reader takes nothing. */
async function writeTogether(
  response: ServerResponse,
  { key, follow }: EventSource,
  afterSeq: number,
  { feeds, gone, stallMs }: Around,
): Promise<number | undefined> {
  let stall: NodeJS.Timeout | undefined;
  let isStalled = false;
  const write = (frames: Buffer): boolean => {
    if (response.write(frames)) return true;
    stall ??= setTimeout(() => {
      isStalled = true;
      joined.leave();
    }, stallMs);
    return false;
  };
  const joined = feeds.join(key, follow, { afterSeq, write });
  const onDrain = (): void => {
    clearTimeout(stall);
    stall = undefined;
    joined.resume();
  };
  response.on("drain", onDrain);
  gone.addEventListener("abort", joined.leave);
  if (gone.aborted) joined.leave();
  try {
    const seq = await joined.left;
    return isStalled ? undefined : seq;
  } finally {
    clearTimeout(stall);
    response.off("drain", onDrain);
    gone.removeEventListener("abort", joined.leave);
  }
}

/** Frames of one turn of the event loop leave in one packet. */
function writeInOnePacket(response: ServerResponse, text: string): boolean {
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
