import { Approval } from "@ergon/core";
import { type ApprovalDecision, type ApprovalState, DecidedApproval, ToolGrant } from "@ergon/core/schema";
import type { Page } from "@ergon/core/store-kit";
import { hubError } from "@ergon/core/hub";
import { z } from "zod";
import { callRemote, readJson, type RemoteRequest, type RemoteTarget } from "./remote-call.ts";

const Listed = z.object({ items: z.array(Approval), nextCursor: z.string().optional() });
const ListedGrants = z.object({ items: z.array(ToolGrant), nextCursor: z.string().optional() });

/** Calls that wait for a person's yes, as a person sees and answers them. */
export type ApprovalClient = {
  readonly list: (query: {
    readonly state?: ApprovalState;
    readonly limit: number;
    readonly cursor?: string;
  }) => Promise<Page<Approval>>;
  /** Throws `approval_not_found`. */
  readonly find: (id: string) => Promise<Approval>;
  readonly decide: (id: string, decision: ApprovalDecision) => Promise<DecidedApproval>;
  /** What was allowed for good. */
  readonly grants: (query: { readonly limit: number; readonly cursor?: string }) => Promise<Page<ToolGrant>>;
  /** Throws `grant_not_found`, `grant_configured`. */
  readonly revoke: (toolId: string) => Promise<ToolGrant>;
};

/** Through the process that owns the data folder. */
export function createRemoteApprovals(target: RemoteTarget, owner: string): ApprovalClient {
  const ask = async (request: Omit<RemoteRequest, "owner">): Promise<unknown> =>
    readJson(await callRemote(target, { owner, ...request }));
  return {
    list: async ({ state, limit, cursor }) => {
      const query = { state, limit: String(limit), cursor };
      const { items, nextCursor } = Listed.parse(await ask({ path: "/approvals", query }));
      return nextCursor === undefined ? { items } : { items, nextCursor };
    },
    find: async (id) => Approval.parse(await ask({ path: approvalPath(id) })),
    decide: async (id, body) => DecidedApproval.parse(await ask({ method: "POST", path: approvalPath(id), body })),
    grants: async ({ limit, cursor }) => {
      const query = { limit: String(limit), cursor };
      const { items, nextCursor } = ListedGrants.parse(await ask({ path: "/grants", query }));
      return nextCursor === undefined ? { items } : { items, nextCursor };
    },
    revoke: async (toolId) =>
      ToolGrant.parse(await ask({ method: "DELETE", path: `/grants/${encodeURIComponent(toolId)}` })),
  };
}

/** What cannot be an id is refused here as the owner would refuse it: in an address ".." means another place. */
function approvalPath(id: string): string {
  if (/^apr_[0-9a-f]+$/.test(id)) return `/approvals/${id}`;
  throw hubError("approval_not_found", `There is no approval "${id}".`, { details: { id } });
}
