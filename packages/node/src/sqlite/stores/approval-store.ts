import { Approval } from "@ergon/core";
import { ToolGrant } from "@ergon/core/schema";
import {
  approvalsFull,
  type ApprovalStore,
  MAX_ANSWERED_APPROVALS,
  MAX_PENDING_APPROVALS,
  refuseAnswered,
  sortKey,
} from "@ergon/core/store-kit";
import { openSmallStore, type StorePlace } from "./small-store.ts";

/** Approvals that outlive the process. An answer is on the disk before anything acts on it. */
export function openSqliteApprovalStore(place: StorePlace): ApprovalStore {
  const { all, run, acting, reading, close } = openSmallStore(place, { what: "approval store", durable: true });

  const find = (id: string): Approval | undefined => {
    const [row] = all<TextRow>("SELECT text FROM approvals WHERE id = ?", id);
    return row === undefined ? undefined : Approval.parse(JSON.parse(row.text));
  };
  const put = (approval: Approval): Approval => {
    const { id, owner, state, expiresAt } = approval;
    const values = [id, owner, state, sortKey(approval), expiresAt, JSON.stringify(approval)];
    run(
      "INSERT OR REPLACE INTO approvals (id, owner, state, sort_key, expires_at, text) VALUES (?, ?, ?, ?, ?, ?)",
      ...values,
    );
    return approval;
  };
  const forgetOldest = (): void =>
    run(
      `DELETE FROM approvals WHERE id IN (SELECT id FROM approvals WHERE state <> 'pending'
         ORDER BY sort_key DESC LIMIT -1 OFFSET ? + 0)`,
      MAX_ANSWERED_APPROVALS,
    );

  return {
    ask: (approval) =>
      acting("asking for an approval", () => {
        const asked = find(approval.id);
        if (asked !== undefined) return asked;
        const [pending] = all<{ n: number }>(
          "SELECT count(*) AS n FROM approvals WHERE owner = ? AND state = 'pending'",
          approval.owner,
        );
        if ((pending?.n ?? 0) >= MAX_PENDING_APPROVALS) throw approvalsFull();
        return put(approval);
      }),
    read: (id) => reading("reading an approval", () => find(id)),
    list: ({ owners, state, limit, cursor }) =>
      reading("listing approvals", () => {
        const rows = all<TextRow & { sort_key: string }>(
          `SELECT text, sort_key FROM approvals
           WHERE (?1 IS NULL OR owner IN (SELECT value FROM json_each(?1))) AND (?2 IS NULL OR state = ?2) AND (?3 IS NULL OR sort_key < ?3)
           ORDER BY sort_key DESC LIMIT ?4 + 0`,
          owners === undefined ? null : JSON.stringify(owners),
          state ?? null,
          cursor ?? null,
          limit + 1,
        );
        const items = rows.slice(0, limit).map(({ text }) => Approval.parse(JSON.parse(text)));
        const last = rows[limit - 1];
        return rows.length > limit && last !== undefined ? { items, nextCursor: last.sort_key } : { items };
      }),
    answer: (id, { approved, by, at, feedback }) =>
      acting("answering an approval", () => {
        const asked = find(id);
        if (asked === undefined) return undefined;
        refuseAnswered(asked, at);
        const state = approved ? "approved" : "denied";
        const said = feedback === undefined ? {} : { feedback };
        const answered = put({ ...asked, state, decidedAt: at, decidedBy: by, ...said });
        forgetOldest();
        return answered;
      }),
    expire: (at, limit) =>
      acting("ending approvals", () => {
        const over = all<TextRow>(
          "SELECT text FROM approvals WHERE state = 'pending' AND expires_at <= ? ORDER BY expires_at LIMIT ? + 0",
          at,
          limit,
        );
        const ended = over.map(({ text }) =>
          put({ ...Approval.parse(JSON.parse(text)), state: "expired", decidedAt: at }),
        );
        forgetOldest();
        return ended;
      }),
    withdraw: (ids, at) =>
      acting("withdrawing approvals", () => {
        for (const id of ids) {
          const asked = find(id);
          if (asked?.state === "pending") put({ ...asked, state: "withdrawn", decidedAt: at });
        }
        forgetOldest();
      }),
    listGrants: ({ limit, cursor = "" }) =>
      reading("listing grants", () => {
        const rows = all<TextRow>(
          "SELECT text FROM tool_grants WHERE tool_id > ? ORDER BY tool_id LIMIT ? + 0",
          cursor,
          limit + 1,
        );
        const items = rows.slice(0, limit).map(({ text }) => ToolGrant.parse(JSON.parse(text)));
        const last = items.at(-1);
        return rows.length > limit && last !== undefined ? { items, nextCursor: last.toolId } : { items };
      }),
    readGrant: (toolId) =>
      reading("reading a grant", () => {
        const [row] = all<TextRow>("SELECT text FROM tool_grants WHERE tool_id = ?", toolId);
        return row === undefined ? undefined : ToolGrant.parse(JSON.parse(row.text));
      }),
    putGrant: (grant) =>
      acting("keeping a grant", () =>
        run("INSERT OR REPLACE INTO tool_grants (tool_id, text) VALUES (?, ?)", grant.toolId, JSON.stringify(grant)),
      ),
    removeGrant: (toolId) =>
      acting(
        "removing a grant",
        () => all("DELETE FROM tool_grants WHERE tool_id = ? RETURNING tool_id", toolId).length > 0,
      ),
    close,
  };
}

type TextRow = { readonly text: string };
