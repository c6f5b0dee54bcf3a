import { ToolGrant, ToolId } from "@ergon/core/schema";
import { MAX_PAGE_ROWS } from "@ergon/core/store-kit";
import { hubError } from "@ergon/core/hub";
import { z } from "zod";
import type { HttpParts } from "./server/http-parts.ts";
import { route, type Route } from "./server/route.ts";

const DEFAULT_PAGE_ROWS = 100;

/** What people allowed for good: to look at, and to take back. */
export function grantRoutes({ approvals }: Pick<HttpParts, "approvals">): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/grants",
      operationId: "listGrants",
      summary: "Tools that are called without asking, because a person or the configuration allowed them for good",
      access: "person",
      query: z.strictObject({
        limit: z.coerce.number().int().min(1).max(MAX_PAGE_ROWS).default(DEFAULT_PAGE_ROWS),
        cursor: z.string().min(1).max(1_000).optional(),
      }),
      answers: {
        200: {
          description: "A page, by the tool's name",
          schema: z.object({ items: z.array(ToolGrant), nextCursor: z.string().optional() }),
        },
      },
      handle: async ({ query: { limit, cursor } }) => ({
        status: 200,
        body: await approvals.grants(cursor === undefined ? { limit } : { limit, cursor }),
      }),
    }),
    route({
      method: "DELETE",
      path: "/grants/:tool",
      operationId: "revokeGrant",
      summary: "Ask about a tool again",
      access: "person",
      params: z.object({ tool: ToolId }),
      unknown: ({ tool = "" }) =>
        hubError("grant_not_found", `Nothing is allowed for good of "${tool}".`, { details: { toolId: tool } }),
      answers: { 200: { description: "What was allowed until now", schema: ToolGrant } },
      handle: async ({ params }, { logger }) => {
        const revoked = await approvals.revoke(params.tool);
        logger.info({ toolId: revoked.toolId }, "What was allowed for good was taken back.");
        return { status: 200, body: revoked };
      },
    }),
  ];
}
