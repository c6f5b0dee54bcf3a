import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "./ergon.ts";
import { headersOf } from "./mcp-clients.ts";
import { serveFolder, type ServedFolder } from "./served.ts";

const CLIENTS = 50;
const CALLS = 20_000;
const VERSION = "2026-07-28";

type Message = {
  readonly id?: number;
  readonly result?: { readonly structuredContent?: Record<string, unknown>; readonly isError?: boolean };
};

describe("many clients at once", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let server: ServedFolder;

  beforeEach(async () => {
    folder = temporaryFolder();
    const env = { ERGON_LOOP_HISTORY: "1000" };
    server = await serveFolder(join(folder.path, "data"), { cwd: folder.path, env });
  });
  afterEach(async () => {
    await server.stop("SIGTERM");
    folder.remove();
  });

  it("each get their own answers, though all use the same ids", { timeout: 600_000 }, async () => {
    const strays: string[] = [];
    const work = async (at: number): Promise<void> => {
      const post = at % 2 === 0 ? modern() : await legacy();
      const begun = await post(1, "initialize_refinement_loop", { loop_type: "build_code" });
      const loop = String(begun.result?.structuredContent?.["id"]);
      for (let call = 1; call <= CALLS / CLIENTS; call += 1) {
        // The canary: a score that only this client sends in this call.
        const current_score = (at * 7 + call * 13) % 95;
        const { id, result } = await post(call, "decide_loop_next_action", { loop_id: loop, current_score });
        const { structuredContent: got = {} } = result ?? {};
        if (id !== call || got["id"] !== loop || got["score"] !== current_score) {
          strays.push(`client ${at} call ${call}: ${JSON.stringify({ id, got })}`);
        }
      }
      const listed = await post(1, "get_loop_status", { loop_id: loop });
      if (listed.result?.structuredContent?.["id"] !== loop) strays.push(`client ${at} lost its loop`);
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, at) => work(at)));
    expect(strays).toEqual([]);
  });

  type Post = (id: number, name: string, args: Record<string, unknown>) => Promise<Message>;

  function modern(): Post {
    return async (id, name, args) => {
      const _meta = {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
      };
      const headers = { "mcp-protocol-version": VERSION, "mcp-method": "tools/call", "mcp-name": name };
      const body = { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args, _meta } };
      return await answerOf(await send(headers, body));
    };
  }

  async function legacy(): Promise<Post> {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "canary", version: "1" } };
    const opened = await send({}, { jsonrpc: "2.0", id: 1, method: "initialize", params });
    const headers = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    await opened.text();
    return async (id, name, args) => {
      const body = { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } };
      return await answerOf(await send(headers, body));
    };
  }

  function send(headers: Record<string, string>, body: unknown): Promise<Response> {
    const always = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    return fetch(new URL("/mcp", server.url), {
      method: "POST",
      headers: { ...headersOf(server), ...always, ...headers },
      body: JSON.stringify(body),
    });
  }

  async function answerOf(response: Response): Promise<Message> {
    const text = await response.text();
    if (response.headers.get("content-type")?.startsWith("application/json") === true)
      return JSON.parse(text) as Message;
    const frames = text.split("\n").filter((line) => line.startsWith("data: "));
    const messages = frames.map((line) => JSON.parse(line.slice("data: ".length)) as Message);
    return messages.find((message) => message.result !== undefined) ?? {};
  }
});
