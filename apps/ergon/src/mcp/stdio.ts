import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { type ClientCapabilities, isInitializeRequest } from "@modelcontextprotocol/server";
import type { Readable, Writable } from "node:stream";
import { gatheredOutput } from "./gathered-output.ts";
import type { McpHost } from "./mcp-host.ts";
import { watchMessages } from "./watch-messages.ts";

/** Messages on the pipe may not be longer; the connection ends at one that is. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

export type StdioStreams = { readonly input: Readable; readonly output: Writable };

/** Serves MCP over a pipe, in the era that the client opens with, until the pipe ends or the signal aborts. */
export async function serveMcpOnStdio(
  host: McpHost,
  { owner, streams, signal }: { readonly owner: string; readonly streams: StdioStreams; readonly signal: AbortSignal },
): Promise<void> {
  let said: ClientCapabilities | undefined;
  // Whoever starts a process of ours could as well type the command that approves.
  const mayApprove = (): boolean => true;
  const pipe = new StdioServerTransport(streams.input, gatheredOutput(streams.output), {
    maxBufferSize: MAX_MESSAGE_BYTES,
  });
  const { transport, closed } = watchMessages(pipe, (message) => {
    if (isInitializeRequest(message)) said = message.params.capabilities;
  });
  const connection = serveStdio(
    ({ era }) => host.serverFor({ owner, era, stays: true, capabilities: () => said, mayApprove }),
    {
      transport,
      onerror: (error) => host.logger.debug({ error }, "A message over stdio was refused."),
    },
  );
  const stop = (): void => void connection.close();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  await closed;
  await connection.close();
}
