import { hubError } from "@ergon/core/hub";

/** Of one message; streams may go on for ever. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/**
 * An answer of a server that ends with an error when a message in it has no end. It is bounded where it is read: text and
 * JSON are read here, since a stream put in between costs more than the rest of a call; `body` is such a stream.
 */
export function boundedAnswer(answer: Response): Response {
  const { body, headers } = answer;
  const length = Number(headers.get("content-length") ?? Number.NaN);
  const isLengthWhole = headers.get("content-encoding") === null;
  if (body === null || (isLengthWhole && length <= MAX_MESSAGE_BYTES)) return answer;
  let counted: ReadableStream<Uint8Array> | undefined;
  const text = (): Promise<string> => textWithin(counted ?? body);
  const refused = UNBOUNDED.map((way) => [way, { value: () => refuse(way), configurable: true }] as const);
  return Object.defineProperties(answer, {
    ...Object.fromEntries(refused),
    text: { value: text, configurable: true },
    json: { value: async () => JSON.parse(await text()) as unknown, configurable: true },
    body: {
      get: () => (counted ??= body.pipeThrough(countingStream(isEventStream(headers)))),
      configurable: true,
    },
  });
}

/** Ways to read an answer that nobody here uses, and that would know no bound. */
const UNBOUNDED = ["arrayBuffer", "blob", "bytes", "clone", "formData"];

function refuse(way: string): never {
  throw new Error(`An answer is read as text, as JSON or as a stream here, and not by ${way}().`);
}

async function textWithin(body: ReadableStream<Uint8Array>): Promise<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > MAX_MESSAGE_BYTES) {
      const error = tooLong();
      await reader.cancel(error);
      throw error;
    }
    text += decoder.decode(value, { stream: true });
  }
}

function isEventStream(headers: Headers): boolean {
  return headers.get("content-type")?.includes("text/event-stream") === true;
}

function countingStream(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  let endsLine = false;
  return new TransformStream({
    transform: (chunk, controller) => {
      bytes = isStream ? sinceBlankLine(chunk) : bytes + chunk.byteLength;
      if (bytes <= MAX_MESSAGE_BYTES) controller.enqueue(chunk);
      else controller.error(tooLong());
    },
  });

  /** A blank line ends a message of a stream; it may lie across two chunks. */
  function sinceBlankLine(chunk: Uint8Array): number {
    const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const at = Math.max(text.lastIndexOf("\n\n"), text.lastIndexOf("\r\n\r\n"));
    const isBlankAtStart = endsLine && /^\r?\n/.test(text.subarray(0, 2).toString("latin1"));
    endsLine = text.at(-1) === NEWLINE;
    if (at >= 0) return text.length - at;
    return isBlankAtStart ? text.length : bytes + text.length;
  }
}

function tooLong(): Error {
  const message = `It sent a message of more than ${String(MAX_MESSAGE_BYTES)} bytes.`;
  return hubError("answer_lost", message, { retryable: true });
}

const NEWLINE = 0x0a;
