/*
 * MCP over Streamable HTTP, both eras on one address. The door before it has checked host, origin, token and body.
 * What carries its revision with every request is served by an instance of its own; the rest has sessions.
 */
import type { Clock } from "@ergon/core";
import {
  classifyInboundRequest,
  createMcpHandler,
  InMemoryServerEventBus,
  type McpHttpHandler,
  type ServerEventBus,
} from "@modelcontextprotocol/server";
import type { McpChange, McpChanges } from "../host/changes.ts";
import { createLegacySessions } from "./legacy-sessions.ts";
import type { McpHost } from "../host/mcp-host.ts";
import { type Exchange, exchange } from "./web-exchange.ts";

export type McpEndpoint = {
  readonly handle: (exchange: McpExchange) => Promise<void>;
  readonly close: () => Promise<void>;
};

type McpExchange = Exchange & { readonly owner: string; readonly mayApprove: boolean; readonly body: unknown };

export function createMcpEndpoint(host: McpHost, clock: Clock): McpEndpoint {
  const legacy = createLegacySessions(host, clock);
  const modern = new Map<string, { readonly handler: McpHttpHandler; readonly stop: () => void }>();

  /** One for each principal, so that nobody hears of another's resources. Principals are bounded by their tokens. */
  const modernFor = (owner: string, mayApprove: boolean): McpHttpHandler => {
    const key = `${mayApprove ? "person" : "agent"} ${owner}`;
    let found = modern.get(key);
    if (found === undefined) {
      const bus = new InMemoryServerEventBus();
      const stop = host.changes.listen((change) => publish(bus, owner, change));
      const handler = createMcpHandler(
        () =>
          host.serverFor({
            owner,
            era: "modern",
            stays: false,
            capabilities: () => undefined,
            mayApprove: () => mayApprove,
          }),
        {
          legacy: "reject",
          bus: withInterest(bus, host.changes),
          onerror: (error) => host.logger.debug({ principal: owner, error }, "An MCP request was refused."),
        },
      );
      found = { handler, stop };
      modern.set(key, found);
    }
    return found.handler;
  };

  return {
    handle: async ({ owner, mayApprove, body, ...given }) => {
      if (isLegacy(given.request, body)) await legacy.handle(given, { owner, mayApprove, body });
      else await exchange(given, (web) => modernFor(owner, mayApprove).fetch(web, { parsedBody: body }));
    },
    close: async () => {
      for (const { stop } of modern.values()) stop();
      await Promise.all([legacy.close(), ...[...modern.values()].map(({ handler }) => handler.close())]);
    },
  };
}

function isLegacy({ method = "GET", headers }: Exchange["request"], body: unknown): boolean {
  if (method !== "POST" || body === undefined) return true;
  const { kind } = classifyInboundRequest({
    httpMethod: method,
    body,
    ...said("protocolVersionHeader", headers["mcp-protocol-version"]),
    ...said("mcpMethodHeader", headers["mcp-method"]),
    ...said("mcpNameHeader", headers["mcp-name"]),
  });
  return kind === "legacy";
}

function said(name: string, header: string | readonly string[] | undefined): Readonly<Record<string, string>> {
  return header === undefined ? {} : { [name]: String(header) };
}

function publish(bus: ServerEventBus, owner: string, change: McpChange): void {
  if (change.kind === "list") bus.publish({ kind: `${change.list}_list_changed` });
  else if (change.owner === owner) bus.publish({ kind: "resource_updated", uri: change.uri });
}

function withInterest(bus: ServerEventBus, changes: McpChanges): ServerEventBus {
  return {
    publish: (event) => bus.publish(event),
    subscribe: (listener) => {
      const endInterest = changes.interest();
      const stop = bus.subscribe(listener);
      return () => {
        stop();
        endInterest();
      };
    },
  };
}
