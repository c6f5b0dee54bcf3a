import { createParser, type EventSourceMessage } from "eventsource-parser";

/** A frame that is longer is not ours. */
export const MAX_FRAME_CHARACTERS = 16 * 1024 * 1024;

/** The frames of a server-sent event stream. Comments are `undefined`, so that a reader sees that the other side lives. */
export async function* readServerSentEvents(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<EventSourceMessage | undefined> {
  const decoder = new TextDecoder();
  const frames: (EventSourceMessage | undefined)[] = [];
  const parser = createParser({
    maxBufferSize: MAX_FRAME_CHARACTERS,
    onEvent: (event) => void frames.push(event),
    onComment: () => void frames.push(undefined),
    onError: (cause) => {
      if (cause.type === "max-buffer-size-exceeded") throw new RangeError("an event is too long", { cause });
    },
  });
  for await (const chunk of chunks) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* frames.splice(0);
  }
}
