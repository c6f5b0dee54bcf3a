import { isErgonError, StoredEvent } from "@ergon/core";
import type { FollowEvents } from "@ergon/core/engine";
import { sessionPath } from "./paths.ts";
import { callRemote, guarded, ownerGone, type RemoteTarget } from "./remote-call.ts";
import { readServerSentEvents } from "./server-sent-events.ts";

/** The owner sends a sign of life every 15 seconds; a silence longer than this is a dead connection. */
const MAX_SILENCE_MS = 45_000;
/** Tries in a row that brought no event, before the owner counts as gone. */
const MAX_FRUITLESS_TRIES = 5;
const FIRST_PAUSE_MS = 20;

/** In the answer: the number of the event behind which the stream begins. */
export const AFTER_HEADER = "ergon-after";

/** Goes on behind the last event it saw when the connection breaks, for as long as the owner lives. */
export async function* followRemote(
  target: RemoteTarget,
  request: FollowEvents,
  maxSilenceMs: number = MAX_SILENCE_MS,
): AsyncGenerator<StoredEvent> {
  const { signal } = request;
  let { afterSeq } = request;
  let fruitless = 0;
  while (!signal.aborted) {
    try {
      const onBegun = (seq: number): void => {
        if (afterSeq !== "now") return;
        afterSeq = seq;
        request.onBegun?.(seq);
      };
      for await (const event of connect(target, { ...request, afterSeq, onBegun }, maxSilenceMs)) {
        fruitless = 0;
        afterSeq = event.seq;
        yield event;
        if (signal.aborted) return;
      }
    } catch (thrown) {
      if (signal.aborted) return;
      if (!isErgonError(thrown) || thrown.code !== "owner_gone" || thrown.details?.["sent"] !== true) throw thrown;
    }
    fruitless += 1;
    if (fruitless > MAX_FRUITLESS_TRIES) throw ownerGone("The event stream breaks again and again.", { sent: false });
    await pause(FIRST_PAUSE_MS * 2 ** fruitless, signal);
  }
}

async function* connect(
  target: RemoteTarget,
  request: FollowEvents,
  maxSilenceMs: number,
): AsyncGenerator<StoredEvent> {
  const { owner, sessionId, afterSeq, signal, onBegun } = request;
  const silence = new AbortController();
  const either = AbortSignal.any([signal, silence.signal]);
  const response = await callRemote(target, {
    owner,
    path: `${sessionId === undefined ? "" : sessionPath(sessionId)}/events${afterSeq === "now" ? "?after=now" : ""}`,
    headers: {
      accept: "text/event-stream",
      ...(afterSeq === "now" ? {} : { "last-event-id": String(afterSeq) }),
    },
    signal: either,
  });
  const begun = response.headers.get(AFTER_HEADER);
  if (begun !== null) onBegun?.(Number(begun));
  let timer = setTimeout(() => silence.abort(), maxSilenceMs);
  const frames = readServerSentEvents(response.body ?? new ReadableStream<Uint8Array>());
  try {
    for (;;) {
      const next = await guarded(signal, () => frames.next());
      if (next.done === true) return;
      clearTimeout(timer);
      // While the caller is busy nothing is read, and so nothing is heard: the clock runs only while we listen.
      if (next.value !== undefined) yield StoredEvent.parse(JSON.parse(next.value.data));
      timer = setTimeout(() => silence.abort(), maxSilenceMs);
    }
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
}
