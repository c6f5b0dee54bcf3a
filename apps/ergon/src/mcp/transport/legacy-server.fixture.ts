import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { Exchange } from "./web-exchange.ts";

export type LegacyServer = { readonly url: string; readonly close: () => Promise<void> };

/** A plain HTTP server before what serves the older era, with nobody asked for a token. */
export async function openLegacyServer(
  handle: (exchange: Exchange, body: unknown) => void | Promise<void>,
): Promise<LegacyServer> {
  const server = createServer((request, response) => {
    void (async () => {
      const said = await text(request);
      const gone = new AbortController();
      response.once("close", () => gone.abort());
      const exchange = { request, response, headers: { "x-ours": "1" }, gone: gone.signal };
      try {
        await handle(exchange, said === "" ? undefined : JSON.parse(said));
      } catch (error) {
        response.writeHead(500).end(JSON.stringify(error));
      }
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}/mcp`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

export function post(url: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const always = { accept: "application/json, text/event-stream", "content-type": "application/json" };
  return fetch(url, { method: "POST", headers: { ...always, ...headers }, body: JSON.stringify(body) });
}

/** The messages of an answer that has ended. */
export async function events(response: Response): Promise<unknown[]> {
  const said = await response.text();
  return said.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6)) as unknown] : []));
}
