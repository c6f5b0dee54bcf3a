/*
 * Connections of 2025 clients over HTTP. Their era has sessions: the server asks the client within them, so each is an
 * instance that stays.
 *
 * L1  A session belongs to the principal that opened it; to every other it is not there.
 * L2  Sessions are bounded, per principal and in all; past a bound the one that was silent longest is closed, but none
 *     with a request or a stream under way.
 */
import { randomUUID } from "node:crypto";
import type { Clock } from "@ergon/core";
import { accessError } from "@ergon/core/schema";
import type { ClientCapabilities, McpServer } from "@modelcontextprotocol/server";
import { isOpening } from "../host/client-features.ts";
import type { McpHost } from "../host/mcp-host.ts";
import { createSessionTransport, NOT_FOUND, refuse, type SessionTransport } from "./session-transport.ts";
import type { Exchange } from "./web-exchange.ts";

const MAX_SESSIONS_PER_OWNER = 1_000;
const MAX_SESSIONS = 10_000;
const IDLE_MS = 60 * 60_000;
const SWEEP_MS = 60_000;

type LegacySession = {
  readonly id: string;
  readonly owner: string;
  readonly transport: SessionTransport;
  readonly product: McpServer;
  /** As the token of its latest request says. */
  mayApprove: boolean;
  heardMs: number;
  open: number;
};

export type LegacySessions = {
  readonly handle: (
    exchange: Exchange,
    options: { readonly owner: string; readonly mayApprove?: boolean; readonly body: unknown },
  ) => Promise<void>;
  readonly count: () => number;
  readonly close: () => Promise<void>;
};

export type LegacyBounds = { readonly perOwner?: number; readonly inAll?: number; readonly idleMs?: number };

export function createLegacySessions(host: McpHost, clock: Clock, bounds: LegacyBounds = {}): LegacySessions {
  const { perOwner = MAX_SESSIONS_PER_OWNER, inAll = MAX_SESSIONS, idleMs = IDLE_MS } = bounds;
  // In the order in which they were last heard of.
  const sessions = new Map<string, LegacySession>();
  const sweeper = setInterval(sweep, SWEEP_MS).unref();

  function sweep(): void {
    const since = clock.monotonic() - idleMs;
    for (const session of sessions.values()) {
      if (session.heardMs > since) return;
      if (session.open === 0) end(session);
    }
  }

  function end(session: LegacySession): void {
    sessions.delete(session.id);
    session.product.close().catch((error: unknown) => host.logger.warn({ error }, "An MCP session did not close."));
  }

  function makeRoom(owner: string): void {
    const mine = [...sessions.values()].filter((session) => session.owner === owner);
    const crowd = mine.length >= perOwner ? mine : sessions.size >= inAll ? [...sessions.values()] : undefined;
    if (crowd === undefined) return;
    const idle = crowd.find(({ open }) => open === 0);
    if (idle === undefined) {
      throw accessError("too_many_requests", "Too many MCP sessions are at work; end one of them.", {
        retryable: true,
      });
    }
    end(idle);
  }

  async function open(owner: string, body: unknown): Promise<LegacySession> {
    makeRoom(owner);
    let said: ClientCapabilities | undefined;
    if (isOpening(body)) said = body.params.capabilities;
    const id = randomUUID();
    const mayApprove = (): boolean => sessions.get(id)?.mayApprove === true;
    const product = host.serverFor({ owner, era: "legacy", stays: true, capabilities: () => said, mayApprove });
    const transport = createSessionTransport(id, () => void sessions.delete(id));
    await product.connect(transport);
    const session = { id, owner, transport, product, mayApprove: false, heardMs: clock.monotonic(), open: 0 };
    sessions.set(id, session);
    return session;
  }

  async function opened(owner: string, body: unknown): Promise<LegacySession | undefined> {
    const isOne = Array.isArray(body) ? body.some(isOpening) : isOpening(body);
    return isOne ? await open(owner, body) : undefined;
  }

  function find(id: string, owner: string): LegacySession | undefined {
    const session = sessions.get(id);
    if (session?.owner !== owner) return undefined;
    sessions.delete(id);
    sessions.set(id, session);
    session.heardMs = clock.monotonic();
    return session;
  }

  return {
    handle: async (exchange, { owner, mayApprove = false, body }) => {
      // Whoever has gone already is not told of again, and would count for ever.
      if (exchange.response.closed) return;
      const given = exchange.request.headers["mcp-session-id"];
      const id = given === undefined ? undefined : String(given);
      const session = id === undefined ? await opened(owner, body) : find(id, owner);
      if (session === undefined) {
        refuse(exchange, id === undefined ? NO_SESSION : NOT_FOUND);
        return;
      }
      session.mayApprove = mayApprove;
      session.open += 1;
      exchange.response.once("close", () => {
        session.open -= 1;
      });
      const isTaken = session.transport.handle(exchange, body);
      // An opening that was refused leaves nothing behind.
      if (id === undefined && !isTaken) end(session);
    },
    count: () => sessions.size,
    close: async () => {
      clearInterval(sweeper);
      const all = [...sessions.values()];
      sessions.clear();
      await Promise.allSettled(all.map(({ product }) => product.close()));
    },
  };
}

const NO_SESSION = {
  status: 400,
  code: -32_000,
  message: "Bad Request: begin with initialize, or send Mcp-Session-Id.",
};
