import { afterEach, describe, expect, it } from "vitest";
import { type ApprovalStore, MAX_PENDING_APPROVALS } from "../../src/ports/approval-store.ts";
import type { Approval } from "../../src/schema/approval.ts";

export type OpenedApprovals = {
  readonly approvals: ApprovalStore;
  /** Closes the store and opens what it left behind; absent when it leaves nothing. */
  readonly reopen?: () => Promise<ApprovalStore>;
};

/** What every ApprovalStore must do. `open` gives a fresh, empty one. */
export function approvalStoreContract(name: string, open: () => Promise<OpenedApprovals>): void {
  const opened: ApprovalStore[] = [];
  const fresh = async (): Promise<OpenedApprovals> => {
    const made = await open();
    opened.push(made.approvals);
    return made;
  };

  describe(`the approval store contract: ${name}`, () => {
    afterEach(async () => {
      for (const approvals of opened.splice(0)) await approvals.close();
    });

    it("gives back what was asked, every field of it", async () => {
      const { approvals } = await fresh();
      const whole = question("a", {
        server: "files",
        description: "Writes.",
        fingerprint: "f",
        changes: [{ field: "description", before: "x", after: "y" }],
        sessionId: "ses_1",
        step: "each[3]/write",
        conversationId: "c",
      });
      expect(await approvals.ask(whole)).toEqual(whole);
      expect(await approvals.read("a")).toEqual(whole);
      expect(await approvals.read("b")).toBeUndefined();
    });

    it("asks once, however often it is told to (V1)", async () => {
      const { approvals } = await fresh();
      await approvals.ask(question("a"));
      await approvals.answer("a", yes);
      expect(await approvals.ask(question("a", { reason: "again" }))).toMatchObject({
        state: "approved",
        reason: "because",
      });
    });

    it("takes one answer, and of two at the same time only one (V2)", async () => {
      const { approvals } = await fresh();
      await approvals.ask(question("a"));
      const both = await Promise.allSettled([
        approvals.answer("a", yes),
        approvals.answer("a", { ...yes, approved: false, feedback: "not now" }),
      ]);
      expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      await expect(approvals.answer("a", yes)).rejects.toMatchObject({ code: "approval_decided" });
      expect(await approvals.answer("b", yes)).toBeUndefined();
    });

    it("keeps who said what, and when", async () => {
      const { approvals } = await fresh();
      await approvals.ask(question("a"));
      await approvals.answer("a", { approved: false, by: "ada", at: "2026-01-01T00:00:05.000Z", feedback: "too much" });
      expect(await approvals.read("a")).toMatchObject({
        state: "denied",
        decidedBy: "ada",
        decidedAt: "2026-01-01T00:00:05.000Z",
        feedback: "too much",
      });
    });

    it("takes no answer at the moment when the time is over, nor after (V3)", async () => {
      const { approvals } = await fresh();
      await approvals.ask(question("a", { expiresAt: "2026-01-01T01:00:00.000Z" }));
      await approvals.ask(question("b", { expiresAt: "2026-01-01T01:00:00.000Z" }));
      await expect(approvals.answer("a", { ...yes, at: "2026-01-01T01:00:00.000Z" })).rejects.toMatchObject({
        code: "approval_expired",
      });
      expect(await approvals.answer("b", { ...yes, at: "2026-01-01T00:59:59.999Z" })).toMatchObject({
        state: "approved",
      });
    });

    it("ends what nobody answered in time, a bounded number at once", async () => {
      const { approvals } = await fresh();
      for (const id of ["a", "b", "c"]) await approvals.ask(question(id, { expiresAt: "2026-01-01T01:00:00.000Z" }));
      await approvals.ask(question("d", { expiresAt: "2027-01-01T01:00:00.000Z" }));
      const first = await approvals.expire("2026-01-01T01:00:00.000Z", 2);
      const rest = await approvals.expire("2026-01-01T01:00:00.000Z", 2);
      const ended = [...first, ...rest].map(({ id, state }) => `${id} ${state}`);
      expect(ended.sort()).toEqual(["a expired", "b expired", "c expired"]);
      expect(await approvals.expire("2026-01-01T01:00:00.000Z", 2)).toEqual([]);
      await expect(approvals.answer("a", yes)).rejects.toMatchObject({ code: "approval_expired" });
    });

    it("ends what nobody waits for any more, and takes no answer to it (V4)", async () => {
      const { approvals } = await fresh();
      for (const id of ["a", "b", "c"]) await approvals.ask(question(id));
      await approvals.answer("b", yes);
      await approvals.withdraw(["a", "b", "unknown"], "2026-01-01T00:00:20.000Z");
      expect(await approvals.read("a")).toMatchObject({ state: "withdrawn", decidedAt: "2026-01-01T00:00:20.000Z" });
      expect(await approvals.read("b")).toMatchObject({ state: "approved" });
      expect(await approvals.read("c")).toMatchObject({ state: "pending" });
      await expect(approvals.answer("a", yes)).rejects.toMatchObject({ code: "approval_withdrawn" });
    });

    it("lists newest first, by owner and state, a page at a time", async () => {
      const { approvals } = await fresh();
      for (const [index, id] of ["a", "b", "c", "d"].entries()) {
        await approvals.ask(question(id, { requestedAt: `2026-01-01T00:00:0${String(index)}.000Z` }));
      }
      await approvals.ask(question("e", { owner: "eve" }));
      await approvals.answer("b", yes);
      const first = await approvals.list({ owners: ["ada"], state: "pending", limit: 2 });
      expect(first.items.map(({ id }) => id)).toEqual(["d", "c"]);
      const next = first.nextCursor === undefined ? {} : { cursor: first.nextCursor };
      const second = await approvals.list({ owners: ["ada"], state: "pending", limit: 2, ...next });
      expect(second.items.map(({ id }) => id)).toEqual(["a"]);
      expect(second.nextCursor).toBeUndefined();
      expect((await approvals.list({ owners: ["eve", "ada"], limit: 10 })).items).toHaveLength(5);
      expect((await approvals.list({ owners: [], limit: 10 })).items).toEqual([]);
      expect((await approvals.list({ limit: 10 })).items).toHaveLength(5);
    });

    it("refuses one question more than its bound, of that owner alone (V5)", async () => {
      const { approvals } = await fresh();
      for (let index = 0; index < MAX_PENDING_APPROVALS; index += 1) await approvals.ask(question(`q${String(index)}`));
      await expect(approvals.ask(question("more"))).rejects.toMatchObject({ code: "approvals_full", retryable: true });
      await approvals.ask(question("other", { owner: "eve" }));
      await approvals.answer("q0", yes);
      await approvals.ask(question("more"));
    });

    it("keeps grants by tool", async () => {
      const { approvals } = await fresh();
      const grant = {
        toolId: "files_read",
        fingerprint: "f",
        identity: {
          name: "read",
          description: "Reads.",
          inputSchema: { type: "object" },
          server: { command: "files" },
        },
        grantedAt: "t",
        grantedBy: "ada",
      };
      await approvals.putGrant(grant);
      expect(await approvals.readGrant("files_read")).toEqual(grant);
      await approvals.putGrant({ ...grant, fingerprint: "g" });
      expect(await approvals.readGrant("files_read")).toMatchObject({ fingerprint: "g" });
      for (const toolId of ["mail_send", "files_write"]) await approvals.putGrant({ ...grant, toolId });
      const first = await approvals.listGrants({ limit: 2 });
      expect(first.items.map(({ toolId }) => toolId)).toEqual(["files_read", "files_write"]);
      const next = await approvals.listGrants({ limit: 2, cursor: first.nextCursor ?? "" });
      expect(next).toEqual({ items: [{ ...grant, toolId: "mail_send" }] });
      expect(await approvals.removeGrant("files_read")).toBe(true);
      expect(await approvals.removeGrant("files_read")).toBe(false);
      expect(await approvals.readGrant("files_read")).toBeUndefined();
    });

    it("finds everything again after it was closed", async () => {
      const { approvals, reopen } = await fresh();
      await approvals.ask(question("a"));
      await approvals.close();
      await expect(approvals.read("a")).rejects.toMatchObject({ code: "store_closed" });
      if (reopen === undefined) return;
      const again = await reopen();
      opened.push(again);
      expect(await again.read("a")).toEqual(question("a"));
    });
  });
}

const yes = { approved: true, by: "ada", at: "2026-01-01T00:00:10.000Z" } as const;

function question(id: string, more: Partial<Approval> = {}): Approval {
  return {
    id,
    owner: "ada",
    tool: "files_write",
    server: null,
    parameters: { path: "/tmp/x" },
    argsHash: "h",
    fingerprint: null,
    estimatedEnergyCost: 1.5,
    reason: "because",
    state: "pending",
    requestedAt: "2026-01-01T00:00:00.000Z",
    expiresAt: "2026-01-02T00:00:00.000Z",
    ...more,
  };
}
