import type { Client } from "@modelcontextprotocol/client";
import { hubError, type ListedTool } from "@ergon/core/hub";

export const MAX_SERVER_TOOLS = 1_000;
const MAX_LIST_CHARS = 5 * 1024 * 1024;

type Listed = Awaited<ReturnType<Client["listTools"]>>["tools"][number];

/** All tools of a server, sorted by name, so that a list that says the same looks the same. */
export async function listTools(
  client: Client,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<readonly ListedTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const { tools } = await client.listTools(undefined, { signal, timeout: timeoutMs, cacheMode: "refresh" });
  if (tools.length > MAX_SERVER_TOOLS) {
    const message = `It lists ${String(tools.length)} tools; ${String(MAX_SERVER_TOOLS)} is the limit.`;
    throw hubError("server_down", message, { details: { tools: tools.length } });
  }
  if (JSON.stringify(tools).length > MAX_LIST_CHARS) {
    throw hubError("server_down", `Its list of tools is longer than ${String(MAX_LIST_CHARS)} characters.`);
  }
  return tools.map((tool) => listedTool(tool)).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function listedTool({ name, title, description = "", inputSchema, outputSchema, annotations }: Listed): ListedTool {
  // What came over the wire is JSON, whatever the SDK's types say of it.
  const listed = { name, title, description, inputSchema, outputSchema, annotations };
  return JSON.parse(JSON.stringify(listed)) as ListedTool;
}
