import { ConversationsStatus, planError } from "@ergon/core/schema";
import { isoTime } from "@ergon/core/store-kit";
import { HubStats } from "@ergon/core/hub";
import { z } from "zod";
import type { HttpParts } from "./server/http-parts.ts";
import type { EventStreams } from "./server/event-streams.ts";
import type { Metrics } from "./metrics.ts";
import { route, type Route } from "./server/route.ts";

const Health = z.object({ status: z.literal("ok") });
const Stats = z.object({
  version: z.string(),
  startedAt: z.string(),
  uptimeSeconds: z.number(),
  activeRuns: z.int(),
  eventStreams: z.int(),
  tools: z.int(),
  plans: z.int(),
  hub: HubStats.describe("calls of MCP servers' tools, and what was learned from them; empty but for the first token"),
  conversations: ConversationsStatus,
});

type Parts = Pick<
  HttpParts,
  "activeRuns" | "isReady" | "storeHealth" | "clock" | "version" | "tools" | "plans" | "hubStats" | "conversations"
> & {
  readonly streams: EventStreams;
  readonly metrics: Metrics;
  readonly isDraining: () => boolean;
};

export function healthRoutes(parts: Parts): readonly Route[] {
  const startedAt = isoTime(parts.clock);
  const startedMs = parts.clock.monotonic();
  return [
    route({
      method: "GET",
      path: "/healthz",
      operationId: "health",
      summary: "Whether the process answers",
      access: "open",
      answers: { 200: { description: "It does", schema: Health } },
      handle: () => ({ status: 200, body: { status: "ok" } }),
    }),
    route({
      method: "GET",
      path: "/readyz",
      operationId: "readiness",
      summary: "Whether it takes work",
      access: "open",
      answers: { 200: { description: "It does", schema: Health } },
      handle: () => {
        if (parts.isDraining()) throw planError("engine_stopping", "Ergon is shutting down.", { retryable: true });
        if (!parts.isReady()) throw planError("engine_stopping", "Ergon is still starting.", { retryable: true });
        const problem = parts.storeHealth();
        if (problem !== undefined) throw problem;
        return { status: 200, body: { status: "ok" } };
      },
    }),
    route({
      method: "GET",
      path: "/stats",
      operationId: "stats",
      summary: "What the server is busy with",
      access: "agent",
      answers: { 200: { description: "Figures", schema: Stats } },
      handle: async (_, { principal }) => ({
        status: 200,
        body: {
          version: parts.version,
          startedAt,
          uptimeSeconds: Math.round((parts.clock.monotonic() - startedMs) / 1_000),
          activeRuns: parts.activeRuns(),
          eventStreams: parts.streams.count(),
          tools: parts.tools.list().length,
          plans: parts.plans.list().length,
          hub: (principal.admin ? await parts.hubStats() : undefined) ?? { servers: [], tools: [] },
          conversations: shownTo(principal.admin, await parts.conversations.status()),
        },
      }),
    }),
    route({
      method: "GET",
      path: "/metrics",
      operationId: "metrics",
      summary: "Figures for Prometheus",
      access: "agent",
      answers: { 200: { description: "Prometheus text", schema: z.string(), mediaType: "text/plain" } },
      handle: async () => {
        const { text, mediaType } = await parts.metrics.text();
        return { status: 200, bytes: new TextEncoder().encode(text), mediaType };
      },
    }),
  ];
}

/** What a model or a server said of its failure may name what belongs to others. */
function shownTo(isAdmin: boolean, status: ConversationsStatus): ConversationsStatus {
  if (isAdmin || status.degraded.length === 0) return status;
  return {
    ...status,
    degraded: ["Conversations do not go on as they should; GET /stats with the first token says why."],
  };
}
