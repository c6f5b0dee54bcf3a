import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { createSystemClock, silentLogger } from "@ergon/core";
import { createIds } from "@ergon/core/store-kit";
import { createEngineWorld } from "@ergon/core/testing";
import { FIRST_TOKEN, serve } from "../../apps/ergon/src/http/serve.fixture.ts";
import { createMcpChanges } from "../../apps/ergon/src/mcp/host/changes.ts";
import { createMcpHost } from "../../apps/ergon/src/mcp/host/mcp-host.ts";
import { fixtureSurface } from "./fixture-surface.ts";

export type FixtureServer = { readonly url: string; readonly close: () => Promise<void> };

/** Ergon's own HTTP server with the suite's fixtures, behind a proxy that adds the token: the suite has none. */
export async function startFixtureServer(): Promise<FixtureServer> {
  const world = createEngineWorld();
  const changes = createMcpChanges();
  const host = createMcpHost({
    name: "Loop Management Server",
    version: "0.0.0",
    surfaces: [fixtureSurface(changes)],
    changes,
    logger: silentLogger,
    debug: true,
  });
  const served = await serve(
    { ...world, clock: createSystemClock(), ids: createIds({ clock: createSystemClock() }) },
    { mcp: async () => host },
  );
  const proxy = createServer((incoming, outgoing) => {
    const { method, headers, url } = incoming;
    const forwarded = request(new URL(url ?? "/", served.url), {
      method,
      headers: { ...headers, authorization: `Bearer ${FIRST_TOKEN}` },
    });
    forwarded.on("response", (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
    });
    forwarded.on("error", () => outgoing.destroy());
    outgoing.on("close", () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const { port } = proxy.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}/mcp`,
    close: async () => {
      proxy.closeAllConnections();
      proxy.close();
      await served.close();
      await world.close();
    },
  };
}
