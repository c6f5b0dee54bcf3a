import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { ServerProcess } from "./server-process.ts";

/** A longer line is no message that anybody waits for. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;
/** Lines that are no message, as servers print by mistake, are passed over; one that prints nothing else is ended. */
export const MAX_BAD_LINES = 100;

/**
 * The protocol over a server's pipes, one JSON document a line. The SDK's own transport starts and ends the process
 * itself, and only that one process.
 */
export function createPipeTransport(server: ServerProcess, parse: (value: unknown) => JSONRPCMessage): PipeTransport {
  let rest: Buffer[] = [];
  let restBytes = 0;
  let badLines = 0;
  let isClosed = false;
  let isGivenUp = false;

  const transport: PipeTransport = {
    // By these two the SDK knows a pipe from a web address.
    pid: server.pid,
    stderr: null,
    start: () => {
      server.stdout.on("data", take);
      server.stdout.on("error", (error: Error) => transport.onerror?.(error));
      // A program may be gone while a child of it still holds its output: what counts is the program.
      void server.ended.then(closed);
      return Promise.resolve();
    },
    send: async (message) => {
      if (isClosed || !server.stdin.writable) throw new Error("The server's input is closed.");
      if (server.stdin.write(`${JSON.stringify(message)}\n`)) return;
      await new Promise<void>((resolve) => {
        server.stdin.once("drain", resolve);
        server.stdin.once("close", resolve);
      });
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
    server.stdout.off("data", take);
    rest = [];
    transport.onclose?.();
  }

  function take(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0 && !isClosed && !isGivenUp; end = chunk.indexOf(NEWLINE, from)) {
      rest.push(chunk.subarray(from, end));
      const line = rest.length === 1 ? (rest[0] ?? chunk) : Buffer.concat(rest);
      rest = [];
      restBytes = 0;
      from = end + 1;
      takeLine(line.toString("utf8"));
    }
    if (from >= chunk.length || isGivenUp) return;
    rest.push(chunk.subarray(from));
    restBytes += chunk.length - from;
    if (restBytes > MAX_FRAME_BYTES) giveUp(`It sent a message of more than ${String(MAX_FRAME_BYTES)} bytes.`);
  }

  function takeLine(line: string): void {
    if (line.trim() === "") return;
    let message: JSONRPCMessage;
    try {
      message = parse(JSON.parse(line));
    } catch (cause) {
      badLines += 1;
      transport.onerror?.(new Error("It sent a line that is no message of the protocol.", { cause }));
      if (badLines > MAX_BAD_LINES) giveUp(`It sent ${String(badLines)} lines that are no message of the protocol.`);
      return;
    }
    transport.onmessage?.(message);
  }

  function giveUp(reason: string): void {
    rest = [];
    restBytes = 0;
    // What else it has sent is not looked at.
    isGivenUp = true;
    server.stdout.off("data", take);
    transport.onerror?.(new Error(reason));
    void transport.close();
  }
}

export type PipeTransport = Transport & { readonly pid: number; readonly stderr: null };

const NEWLINE = 0x0a;
