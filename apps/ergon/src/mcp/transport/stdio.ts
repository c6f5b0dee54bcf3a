import { usageError } from "@ergon/core/schema";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { ClientCapabilities } from "@modelcontextprotocol/server";
import { isOpening } from "../host/client-features.ts";
import type { McpHost } from "../host/mcp-host.ts";
import { createStdioTransport, type StdioStreams } from "./stdio-transport.ts";

type StdioServing = {
  readonly owner: string;
  /** Whether the client may answer approvals in its forms. Some clients fill in forms without a person. */
  readonly mayApprove: boolean;
  readonly streams: StdioStreams;
  readonly signal: AbortSignal;
};

/** Serves MCP over a pipe, in the era that the client opens with, until the pipe ends or the signal aborts. */
export async function serveMcpOnStdio(
  host: McpHost,
  { owner, mayApprove, streams, signal }: StdioServing,
): Promise<void> {
  let said: ClientCapabilities | undefined;
  const transport = createStdioTransport(streams, (message) => {
    if (isOpening(message)) said = message.params.capabilities;
  });
  const connection = serveStdio(
    ({ era }) => host.serverFor({ owner, era, stays: true, capabilities: () => said, mayApprove: () => mayApprove }),
    {
      transport,
      onerror: (error) => host.logger.debug({ error }, "A message over stdio was refused."),
    },
  );
  const stop = (): void => void connection.close();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const broken = await transport.closed;
  await connection.close();
  // A client that closes its end while it is written to has only left.
  if (broken !== undefined && !("code" in broken)) throw usageError("input_invalid", broken.message);
}
