import { hubError } from "@ergon/core";

/** Of one message; streams may go on for ever. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** An answer of a server that ends with an error when a message in it has no end. */
export function boundedAnswer(answer: Response): Response {
  const { body, status, statusText, headers } = answer;
  const length = Number(headers.get("content-length") ?? Number.NaN);
  if (body === null || length <= MAX_MESSAGE_BYTES) return answer;
  const isStream = headers.get("content-type")?.includes("text/event-stream") === true;
  let bytes = 0;
  let endsLine = false;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      bytes = isStream ? sinceBlankLine(chunk) : bytes + chunk.byteLength;
      if (bytes <= MAX_MESSAGE_BYTES) return controller.enqueue(chunk);
      const message = `It sent a message of more than ${String(MAX_MESSAGE_BYTES)} bytes.`;
      controller.error(hubError("answer_lost", message, { retryable: true }));
    },
  });
  return new Response(body.pipeThrough(counted), { status, statusText, headers });

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

const NEWLINE = 0x0a;
