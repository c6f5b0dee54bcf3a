import { present } from "@ergon/core/schema";
import { fingerprintOf } from "@ergon/core/engine";
import {
  hubError,
  type ListedTool,
  type McpConnection,
  type McpConnector,
  type MCPServerConfig,
} from "@ergon/core/hub";

/** A server that is not ready after this long is not tried further. */
const READY_MS = 30_000;
const SAMPLE_MS = 10_000;
const MAX_PROBED_TOOLS = 200;

export type Probe = {
  readonly tools: readonly ProbedTool[];
  readonly version?: string;
  /** What the sample call came to; none when no tool says that it only reads and needs nothing. */
  readonly sample?: { readonly tool: string; readonly ok: boolean };
};

type ProbedTool = { readonly name: string; readonly description: string; readonly fingerprint: string };

/** Starts a server as configured, lists its tools, makes one call that only reads, and ends it again. */
export async function probeServer(
  connector: McpConnector,
  config: MCPServerConfig,
  { secrets, signal }: { readonly secrets: readonly string[]; readonly signal: AbortSignal },
): Promise<Probe> {
  const connection = connector.open({ config: { ...config, enabled: true }, secrets, onChange: () => undefined });
  connection.start();
  try {
    await within(connection.settled(), READY_MS, signal);
    const { state, tools, errors, version } = connection.report();
    if (state !== "ready") {
      const why = errors.at(-1) ?? `it was not ready within ${String(READY_MS / 1_000)} s`;
      throw hubError("server_down", `"${config.id}" did not start: ${why}`, { details: { serverId: config.id } });
    }
    const sample = await sampleCall(connection, tools, signal);
    return {
      tools: tools.slice(0, MAX_PROBED_TOOLS).map((tool) => probed(config, version, tool)),
      ...present({ version, sample }),
    };
  } finally {
    await connection.stop();
  }
}

async function sampleCall(
  connection: McpConnection,
  tools: readonly ListedTool[],
  signal: AbortSignal,
): Promise<Probe["sample"]> {
  const tool = tools.find(({ annotations, inputSchema }) => {
    const required = typeof inputSchema === "boolean" ? [] : inputSchema["required"];
    return annotations?.["readOnlyHint"] === true && (!Array.isArray(required) || required.length === 0);
  });
  if (tool === undefined) return undefined;
  try {
    const { isError } = await connection.call({ name: tool.name, args: {}, signal, timeoutMs: SAMPLE_MS });
    return { tool: tool.name, ok: !isError };
  } catch {
    signal.throwIfAborted();
    return { tool: tool.name, ok: false };
  }
}

function probed({ command, args, url }: MCPServerConfig, version: string | undefined, tool: ListedTool): ProbedTool {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  const fingerprint = fingerprintOf({
    name,
    description,
    inputSchema,
    ...present({ title, outputSchema, annotations }),
    server: present({ command, args, url, version }),
  });
  return { name, description, fingerprint };
}

async function within(done: Promise<void>, limitMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, limitMs);
  const aborted = (): void => over.reject(signal.reason as Error);
  signal.addEventListener("abort", aborted, { once: true });
  try {
    await Promise.race([done, over.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", aborted);
  }
}
