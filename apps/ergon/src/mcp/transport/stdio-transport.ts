import type { Readable, Writable } from "node:stream";
import { createDrained, createLineReader, isPlainMessage } from "@ergon/node";
import {
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  parseJSONRPCMessage,
  type RequestId,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/server";

/** Messages on the pipe may not be longer; the connection ends at one that is. */
export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

export type StdioStreams = { readonly input: Readable; readonly output: Writable };

/**
 * The protocol over our own pipes, one JSON document a line. Answers that come in one turn of the event loop go out in
 * one write: a pipe costs a system call for each, and a busy client's come many at a time; a client that waits for one
 * has it at once. `look` sees what comes in.
 */
export function createStdioTransport(
  { input, output }: StdioStreams,
  look: (message: JSONRPCMessage) => void,
): StdioTransport {
  const { promise: closed, resolve } = Promise.withResolvers<Error | undefined>();
  const drained = createDrained(output);
  let gathered = "";
  /** Requests that are to be answered. */
  const asked = new Set<RequestId>();
  let isClosed = false;
  /** When progress was last told, and what has waited since. */
  let toldMs = Number.NEGATIVE_INFINITY;
  let held = "";

  const transport: StdioTransport = {
    closed,
    start: () => {
      input.on("data", lines.take).on("error", failed).once("end", close).once("close", close);
      output.on("error", broken);
      if (input.readableEnded || input.destroyed) setImmediate(close);
      return Promise.resolve();
    },
    send: (message) => {
      if (isClosed) return Promise.reject(new Error("The pipe is closed."));
      const isAnswer = !("method" in message) && message.id !== undefined && asked.delete(message.id);
      if ("method" in message && message.method === PROGRESS) toldMs = performance.now();
      if (isAnswer && performance.now() - toldMs < AFTER_PROGRESS_MS) holdBack(serializeMessage(message));
      else gather(serializeMessage(message), isAnswer && asked.size === 0);
      return drained();
    },
    close: () => {
      close();
      return WRITTEN;
    },
  };
  const lines = createLineReader({
    maxBytes: MAX_MESSAGE_BYTES,
    onLine: takeLine,
    onTooLong: () => broken(new Error(`A message was longer than ${String(MAX_MESSAGE_BYTES)} bytes.`)),
  });
  return transport;

  function takeLine(line: string): void {
    let message: JSONRPCMessage;
    try {
      const value: unknown = JSON.parse(line);
      message = isPlainMessage(value) ? value : parseJSONRPCMessage(value);
    } catch (cause) {
      failed(new Error("A line was no message of the protocol.", { cause }));
      return;
    }
    if ("method" in message) noteRequest(message);
    look(message);
    transport.onmessage?.(message);
  }

  function noteRequest(message: JSONRPCRequest | JSONRPCNotification): void {
    if ("id" in message) asked.add(message.id);
    else if (message.method === "notifications/cancelled") asked.delete(message.params?.["requestId"] as RequestId);
  }

  function gather(text: string, isLast: boolean): void {
    if (gathered === "" && !isLast) setImmediate(flush);
    gathered += text;
    if (isLast) flush();
  }

  /** Progress that a client reads together with the answer is lost to it: it forgets the request with its answer. */
  function holdBack(text: string): void {
    if (held === "") setTimeout(release, AFTER_PROGRESS_MS);
    held += text;
  }

  function release(): void {
    gathered += held;
    held = "";
    flush();
  }

  function flush(): void {
    const text = gathered;
    gathered = "";
    if (text !== "" && output.writable) output.write(text);
  }

  function failed(error: Error): void {
    transport.onerror?.(error);
  }

  /** Stays where it is when all is over: a write may fail late. */
  function broken(error: Error): void {
    if (isClosed) return;
    failed(error);
    end(error);
  }

  function close(): void {
    end(undefined);
  }

  function end(reason: Error | undefined): void {
    if (isClosed) return;
    isClosed = true;
    lines.end();
    input.off("data", lines.take).off("error", failed).off("end", close).off("close", close);
    input.pause();
    release();
    transport.onclose?.();
    resolve(reason);
  }
}

/** `closed` resolves when it is, whoever closed it, and with what broke it. */
export type StdioTransport = Transport & { readonly closed: Promise<Error | undefined> };

const PROGRESS = "notifications/progress";
const AFTER_PROGRESS_MS = 5;

const WRITTEN = Promise.resolve();
