import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { createDrained } from "../../mcp/drained.ts";
import { createLineReader } from "../../mcp/line-reader.ts";
import { isPlainMessage } from "../../mcp/plain-message.ts";
import { MAX_ANSWER_CHARS } from "../call/ask-server.ts";
import type { ServerProcess } from "../process/server-process.ts";

/** A longer line is no message that anybody waits for: the longest answer, a byte a character as nearly all are, and what is around it. */
export const MAX_FRAME_BYTES = MAX_ANSWER_CHARS + 64 * 1024;
/** Lines that are no message, as servers print by mistake, are passed over; one that prints nothing else is ended. */
export const MAX_BAD_LINES = 100;

/**
 * The protocol over a server's pipes, one JSON document a line. The SDK's own transport starts and ends the process
 * itself, and only that one process.
 */
export function createPipeTransport(server: ServerProcess, parse: (value: unknown) => JSONRPCMessage): PipeTransport {
  let badLines = 0;
  let isClosed = false;
  let whyGivenUp: string | undefined;
  const drained = createDrained(server.stdin);
  const lines = createLineReader({
    maxBytes: MAX_FRAME_BYTES,
    onLine: takeLine,
    onTooLong: () => giveUp(`it sent a message of more than ${String(MAX_FRAME_BYTES)} bytes`),
  });

  const transport: PipeTransport = {
    // By these two the SDK knows a pipe from a web address.
    pid: server.pid,
    stderr: null,
    whyGivenUp: () => whyGivenUp,
    start: () => {
      server.stdout.on("data", lines.take);
      server.stdout.on("error", (error: Error) => transport.onerror?.(error));
      // A program may be gone while a child of it still holds its output: what counts is the program.
      void server.ended.then(closed);
      return Promise.resolve();
    },
    send: async (message) => {
      if (isClosed || !server.stdin.writable) throw new Error("The server's input is closed.");
      if (!server.stdin.write(`${JSON.stringify(message)}\n`)) await drained();
    },
    close: async () => {
      await server.end();
      closed();
    },
  };
  return transport;

  function closed(): void {
    if (isClosed) return;
    isClosed = true;
    server.stdout.off("data", lines.take);
    lines.end();
    transport.onclose?.();
  }

  function takeLine(line: string): void {
    let message: JSONRPCMessage;
    try {
      const value: unknown = JSON.parse(line);
      message = isPlainMessage(value) ? value : parse(value);
    } catch (cause) {
      badLines += 1;
      transport.onerror?.(new Error("It sent a line that is no message of the protocol.", { cause }));
      if (badLines > MAX_BAD_LINES) giveUp(`it sent ${String(badLines)} lines that are no message of the protocol`);
      return;
    }
    transport.onmessage?.(message);
  }

  function giveUp(reason: string): void {
    // What else it has sent is not looked at.
    lines.end();
    server.stdout.off("data", lines.take);
    whyGivenUp = reason;
    transport.onerror?.(new Error(reason));
    void transport.close();
  }
}

export type PipeTransport = Transport & {
  readonly pid: number;
  readonly stderr: null;
  /** Why we ended the server, where we did. */
  readonly whyGivenUp: () => string | undefined;
};
