import { hubError } from "../errors/hub.ts";
import { storeError } from "../errors/store.ts";
import { type ApprovalStore, MAX_ANSWERED_APPROVALS, MAX_PENDING_APPROVALS } from "../ports/approval-store.ts";
import type { Approval, ToolGrant } from "../schema/approval.ts";

/** Approvals that live as long as the process. */
export function createMemoryApprovalStore(): ApprovalStore {
  const approvals = new Map<string, Approval>();
  const grants = new Map<string, ToolGrant>();
  let closed = false;

  async function open<T>(act: () => T): Promise<T> {
    if (closed) throw storeError("store_closed", "The approval store is closed.");
    return act();
  }

  const pendingOf = (owner: string): number =>
    [...approvals.values()].filter((one) => one.owner === owner && one.state === "pending").length;

  const keep = (approval: Approval): Approval => {
    // Answered ones move to the end, so that the oldest answers are the first to go.
    approvals.delete(approval.id);
    approvals.set(approval.id, approval);
    const answered = [...approvals.values()].filter(({ state }) => state !== "pending");
    for (const { id } of answered.slice(0, Math.max(0, answered.length - MAX_ANSWERED_APPROVALS))) approvals.delete(id);
    return approval;
  };

  return {
    ask: (approval) =>
      open(() => {
        const asked = approvals.get(approval.id);
        if (asked !== undefined) return asked;
        if (pendingOf(approval.owner) >= MAX_PENDING_APPROVALS) throw approvalsFull();
        approvals.set(approval.id, approval);
        return approval;
      }),
    read: (id) => open(() => approvals.get(id)),
    list: ({ owners, state, limit, cursor }) =>
      open(() => {
        const found = [...approvals.values()]
          .filter((one) => owners?.includes(one.owner) !== false && (state === undefined || one.state === state))
          .sort(newestFirst);
        const from = cursor === undefined ? 0 : found.findIndex((one) => sortKey(one) < cursor);
        const items = from < 0 ? [] : found.slice(from, from + limit);
        const last = items.at(-1);
        const isMore = from >= 0 && from + limit < found.length;
        return last === undefined || !isMore ? { items } : { items, nextCursor: sortKey(last) };
      }),
    answer: (id, { approved, by, at, feedback }) =>
      open(() => {
        const asked = approvals.get(id);
        if (asked === undefined) return undefined;
        refuseAnswered(asked, at);
        const state = approved ? "approved" : "denied";
        const said = feedback === undefined ? {} : { feedback };
        return keep({ ...asked, state, decidedAt: at, decidedBy: by, ...said });
      }),
    expire: (at, limit) =>
      open(() => {
        const over = [...approvals.values()].filter(({ state, expiresAt }) => state === "pending" && expiresAt <= at);
        return over.slice(0, limit).map((one) => keep({ ...one, state: "expired", decidedAt: at }));
      }),
    withdraw: (ids, at) =>
      open(() => {
        for (const id of ids) {
          const asked = approvals.get(id);
          if (asked?.state === "pending") keep({ ...asked, state: "withdrawn", decidedAt: at });
        }
      }),
    listGrants: ({ limit, cursor = "" }) =>
      open(() => {
        const found = [...grants.values()].filter(({ toolId }) => toolId > cursor).sort(byTool);
        const items = found.slice(0, limit);
        const last = items.at(-1);
        return last === undefined || found.length <= limit ? { items } : { items, nextCursor: last.toolId };
      }),
    readGrant: (toolId) => open(() => grants.get(toolId)),
    putGrant: (grant) => open(() => void grants.set(grant.toolId, grant)),
    removeGrant: (toolId) => open(() => grants.delete(toolId)),
    close: async () => {
      closed = true;
    },
  };
}

/** Orders by when a question was asked, then by its id. */
export function sortKey({ requestedAt, id }: Pick<Approval, "requestedAt" | "id">): string {
  return `${requestedAt} ${id}`;
}

function byTool(a: ToolGrant, b: ToolGrant): number {
  return a.toolId < b.toolId ? -1 : 1;
}

function newestFirst(a: Approval, b: Approval): number {
  return sortKey(a) < sortKey(b) ? 1 : -1;
}

export function refuseAnswered({ id, state, expiresAt }: Approval, at: string): void {
  if (state === "expired" || (state === "pending" && expiresAt <= at)) {
    throw hubError("approval_expired", `The question ${id} was open until ${expiresAt}.`, { details: { id } });
  }
  if (state === "withdrawn") {
    throw hubError("approval_withdrawn", `Nobody waits for an answer to the question ${id} any more.`, {
      details: { id },
    });
  }
  if (state !== "pending")
    throw hubError("approval_decided", `The question ${id} is ${state} already.`, { details: { id, state } });
}

export function approvalsFull(): Error {
  const message = `${String(MAX_PENDING_APPROVALS)} questions wait for a person already; answer some of them first.`;
  return hubError("approvals_full", message, { retryable: true });
}
