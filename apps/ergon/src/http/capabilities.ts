import { z } from "zod";
import type { HttpParts } from "./server/http-parts.ts";
import { type Capability, rankCapabilities } from "./rank-capabilities.ts";
import { route, type Route } from "./server/route.ts";

const DEFAULT_FOUND = 10;
const MAX_FOUND = 100;

const Line = z.object({
  kind: z.enum(["tool", "plan"]),
  id: z.string(),
  title: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
});

export function capabilityRoutes({ tools, plans }: Pick<HttpParts, "tools" | "plans">): readonly Route[] {
  const all = (): readonly Capability[] => [
    ...tools
      .list()
      .map(({ id, title, description, tags }) => ({ kind: "tool" as const, id, title, description, tags })),
    ...plans
      .list()
      .map(({ planId, description }) => ({ kind: "plan" as const, id: planId, title: planId, description, tags: [] })),
  ];
  return [
    route({
      method: "GET",
      path: "/capabilities",
      operationId: "listCapabilities",
      summary: "Tools and plans in one list",
      access: "agent",
      answers: { 200: { description: "All of them", schema: z.object({ items: z.array(Line) }) } },
      handle: () => ({ status: 200, body: { items: all() } }),
    }),
    route({
      method: "POST",
      path: "/capabilities/discover",
      operationId: "discoverCapabilities",
      summary: "Tools and plans that fit a wish, the closest first",
      access: "agent",
      body: z.strictObject({
        query: z.string().min(1).max(10_000),
        limit: z.int().min(1).max(MAX_FOUND).default(DEFAULT_FOUND),
      }),
      answers: {
        200: { description: "The closest", schema: z.object({ items: z.array(Line.extend({ score: z.number() })) }) },
      },
      handle: ({ body }) => ({ status: 200, body: { items: rankCapabilities(all(), body.query, body.limit) } }),
    }),
  ];
}
