import { Approval } from "@ergon/core";
import { ApprovalDecision, ApprovalState, DecidedApproval } from "@ergon/core/schema";
import { MAX_PAGE_ROWS } from "@ergon/core/store-kit";
import type { Reader } from "@ergon/core/engine";
import { hubError } from "@ergon/core/hub";
import type { TokenStore } from "@ergon/node";
import { z } from "zod";
import type { HttpParts } from "./server/http-parts.ts";
import { type RequestContext, route, type Route } from "./server/route.ts";

const DEFAULT_PAGE_ROWS = 100;
const ApprovalParams = z.object({ id: z.string().regex(/^apr_[0-9a-f]{32}$/) });
const noApproval = ({ id = "" }: Readonly<Record<string, string>>): Error =>
  hubError("approval_not_found", `There is no approval "${id}".`, { details: { id } });

export function approvalRoutes({ approvals, tokens }: Pick<HttpParts, "approvals" | "tokens">): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/approvals",
      operationId: "listApprovals",
      summary: "Calls that wait for a person's yes, newest first: your own, and those of principals that you made",
      access: "agent",
      query: z.strictObject({
        state: ApprovalState.optional(),
        limit: z.coerce.number().int().min(1).max(MAX_PAGE_ROWS).default(DEFAULT_PAGE_ROWS),
        cursor: z.string().min(1).max(1_000).optional(),
      }),
      answers: {
        200: {
          description: "A page",
          schema: z.object({ items: z.array(Approval), nextCursor: z.string().optional() }),
        },
      },
      handle: async ({ query: { state, limit, cursor } }, asker) => {
        const query = { limit, ...(state === undefined ? {} : { state }), ...(cursor === undefined ? {} : { cursor }) };
        return { status: 200, body: await approvals.list(readerOf(asker, tokens), query) };
      },
    }),
    route({
      method: "GET",
      path: "/approvals/:id",
      operationId: "readApproval",
      summary: "A question to a person, and its answer",
      access: "agent",
      params: ApprovalParams,
      unknown: noApproval,
      answers: { 200: { description: "The approval", schema: Approval } },
      handle: async ({ params }, asker) => ({
        status: 200,
        body: await approvals.find(readerOf(asker, tokens), params.id),
      }),
    }),
    route({
      method: "POST",
      path: "/approvals/:id",
      operationId: "decideApproval",
      summary: "Approve or deny a call; the same answer twice is one answer",
      access: "person",
      params: ApprovalParams,
      unknown: noApproval,
      body: ApprovalDecision,
      answers: { 200: { description: "The approval as it stands now", schema: DecidedApproval } },
      handle: async ({ params, body }, asker) => {
        const decided = await approvals.decide(readerOf(asker, tokens), params.id, body);
        asker.logger.info(
          { approvalId: decided.id, state: decided.state, tool: decided.tool },
          "A call was decided on.",
        );
        return { status: 200, body: decided };
      },
    }),
  ];
}

/**
 * Whose questions somebody sees: their own, those of the principals whose tokens they made, and with the first token
 * everybody's. A process that acts for another principal sees that one's alone.
 */
function readerOf({ principal, owner }: RequestContext, tokens: Pick<TokenStore, "list">): Reader {
  if (principal.admin && owner === principal.name) return { name: owner };
  const made = principal.scope === "person" && !principal.local ? tokens.list(principal).map(({ name }) => name) : [];
  // Such a process hands on what its client's user said.
  const throughClient = principal.local && owner !== principal.name;
  return { name: owner, owners: [owner, ...made], throughClient };
}
