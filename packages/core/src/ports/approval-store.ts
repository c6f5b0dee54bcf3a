import type { Approval, ApprovalState, ToolGrant } from "../schema/approval.ts";
import type { Page } from "./state-store.ts";

/*
 * Questions to people about calls, and what people allowed for good.
 *
 * V1  A question is asked once: asking again with the same id answers with what is there.
 * V2  It is answered once: of two answers at the same time one is refused with `approval_decided`.
 * V3  A question whose time is over can no longer be answered (`approval_expired`).
 * V4  What was withdrawn can no longer be answered (`approval_withdrawn`).
 * V5  Past `MAX_PENDING_APPROVALS` of one owner, new questions are refused: a program that asks without end fills no disk.
 */
export type ApprovalStore = {
  /** Throws `approvals_full`. */
  ask(approval: Approval): Promise<Approval>;
  read(id: string): Promise<Approval | undefined>;
  /** Newest first. */
  list(query: ApprovalQuery): Promise<Page<Approval>>;
  /** Undefined when there is no such question. */
  answer(id: string, answer: ApprovalAnswer): Promise<Approval | undefined>;
  /** Ends every question whose time is over by then, at most `limit` of them, and gives them back. */
  expire(at: string, limit: number): Promise<readonly Approval[]>;

  /** Ends those of these that are still open: nobody waits for the answer any more. */
  withdraw(ids: readonly string[], at: string): Promise<void>;

  /** By the tool's name. */
  listGrants(query: { readonly limit: number; readonly cursor?: string }): Promise<Page<ToolGrant>>;
  readGrant(toolId: string): Promise<ToolGrant | undefined>;
  putGrant(grant: ToolGrant): Promise<void>;
  removeGrant(toolId: string): Promise<boolean>;
  close(): Promise<void>;
};

export type ApprovalQuery = {
  /** Only theirs; everybody's when absent. */
  readonly owners?: readonly string[];
  readonly state?: ApprovalState;
  readonly limit: number;
  readonly cursor?: string;
};

export type ApprovalAnswer = {
  readonly approved: boolean;
  readonly by: string;
  readonly at: string;
  readonly feedback?: string;
};

export const MAX_PENDING_APPROVALS = 1_000;
/** Answered ones are kept for people who look back; the oldest go first. */
export const MAX_ANSWERED_APPROVALS = 10_000;
