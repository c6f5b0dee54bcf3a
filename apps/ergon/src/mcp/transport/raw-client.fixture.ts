import type { Asked, Served } from "../../http/serve.fixture.ts";

/** MCP requests written by hand: what a client would send, or never would. */
export type RawClient = {
  /** One request of the newer era. */
  readonly modern: (method: string, params?: Record<string, unknown>, options?: RawOptions) => Promise<Asked>;
  /** Opens a session of the older era; `post` sends within it. */
  readonly open: (options?: RawOptions) => Promise<{
    readonly session: string;
    readonly post: (method: string, params?: Record<string, unknown>, id?: number) => Promise<Asked>;
  }>;
};

type RawOptions = {
  readonly token?: string;
  readonly id?: number | string;
  readonly capabilities?: Record<string, unknown>;
};

export const ACCEPT = { accept: "application/json, text/event-stream" };
const VERSION = "2026-07-28";

export function rawClient({ ask }: Pick<Served, "ask">): RawClient {
  const authorized = (token: string | undefined) => (token === undefined ? {} : { token });
  return {
    modern: (method, params = {}, { token, id = 1, capabilities = {} } = {}) => {
      const name = params["name"] ?? params["uri"];
      const headers = {
        ...ACCEPT,
        "mcp-protocol-version": VERSION,
        "mcp-method": method,
        ...(typeof name === "string" ? { "mcp-name": name } : {}),
      };
      const _meta = {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
      };
      const body = { jsonrpc: "2.0", id, method, params: { ...params, _meta } };
      return ask("POST", "/mcp", { ...authorized(token), headers, body });
    },
    open: async ({ token, capabilities = {} } = {}) => {
      const params = { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "raw", version: "1" } };
      const body = { jsonrpc: "2.0", id: 0, method: "initialize", params };
      const opened = await ask("POST", "/mcp", { ...authorized(token), headers: ACCEPT, body });
      const session = opened.headers.get("mcp-session-id") ?? "";
      const headers = { ...ACCEPT, "mcp-session-id": session };
      return {
        session,
        post: (method, given, id = 1) =>
          ask("POST", "/mcp", {
            ...authorized(token),
            headers,
            body: { jsonrpc: "2.0", id, method, ...(given === undefined ? {} : { params: given }) },
          }),
      };
    },
  };
}

/** The messages of an answer, whether it came as JSON or as a stream. */
export function messagesOf({ text, headers }: Asked): Record<string, unknown>[] {
  if (headers.get("content-type")?.startsWith("text/event-stream") !== true)
    return [JSON.parse(text) as Record<string, unknown>];
  const frames = text.split("\n").filter((line) => line.startsWith("data: "));
  return frames.map((line) => JSON.parse(line.slice("data: ".length)) as Record<string, unknown>);
}

export function resultOf(asked: Asked): Record<string, unknown> {
  const answer = messagesOf(asked).find((message) => "result" in message || "error" in message);
  return (answer?.["result"] ?? answer?.["error"] ?? {}) as Record<string, unknown>;
}
