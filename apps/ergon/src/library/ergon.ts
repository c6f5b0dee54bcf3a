// What a program holds: runs of plans, approvals and calls of tools, on an engine here or in another process.
import {
  type AgenticPlan,
  type Approval,
  ErgonError,
  type Json,
  type JsonObject,
  type SessionCore,
  type SessionStatus,
} from "@ergon/core";
import { type ApprovalState, type DecidedApproval, type Remember, storeError } from "@ergon/core/schema";
import type { Page } from "@ergon/core/store-kit";
import type { Engine } from "@ergon/core/engine";
import type { ApprovalClient } from "@ergon/node";
import { createRun, type Run } from "./run.ts";

export type Ergon = {
  /**
   * Starts a plan, by its id or as it is. With an `id` that was used before for the same plan and input, gives that run.
   * Throws `plan_invalid` with every problem, `run_conflict` for another plan or input; then nothing was started.
   */
  readonly run: (plan: AgenticPlan | string, input?: Json, options?: { readonly id?: string }) => Promise<Run>;
  /** A run by the id that it was started with, or by its session's id. Throws `session_not_found`. */
  readonly get: (id: string) => Promise<Run>;
  /** Sessions, the newest first. */
  readonly runs: (query?: RunQuery) => Promise<Page<SessionCore>>;
  /** Calls that wait for a person's yes. */
  readonly approvals: (query?: ApprovalQuery) => Promise<Page<Approval>>;
  readonly approve: (id: string, options?: ApproveOptions) => Promise<DecidedApproval>;
  readonly deny: (id: string, options?: { readonly feedback?: string }) => Promise<DecidedApproval>;
  /** Calls one tool. Throws `approval_needed`, with the approval's id, when a person has to approve it first. */
  readonly call: (toolId: string, args?: JsonObject, options?: { readonly signal?: AbortSignal }) => Promise<Json>;
  readonly close: () => Promise<void>;
};

export type RunQuery = {
  readonly status?: readonly SessionStatus[];
  readonly limit?: number;
  readonly cursor?: string;
};

export type ApprovalQuery = { readonly state?: ApprovalState; readonly limit?: number; readonly cursor?: string };

export type ApproveOptions = { readonly remember?: Remember; readonly feedback?: string };

export type ErgonParts = {
  readonly engine: Engine;
  readonly approvals: Pick<ApprovalClient, "list" | "decide">;
  /** The principal that the program acts as. */
  readonly owner: string;
  /** Why nothing can be done any more, when the folder was lost. */
  readonly lost: () => ErgonError | undefined;
  readonly close: () => Promise<void>;
};

const DEFAULT_PAGE_ROWS = 100;

export function createErgon({ engine, approvals, owner, lost, close }: ErgonParts): Ergon {
  const closing = new AbortController();
  let closed: Promise<void> | undefined;
  const open = async <T>(work: () => Promise<T>): Promise<T> => {
    if (closed !== undefined) throw storeError("store_closed", "This Ergon is closed; open it again to use it.");
    const error = lost();
    if (error !== undefined) throw error;
    return await work();
  };
  const runOf = ({ sessionId, runId }: SessionCore): Run =>
    createRun(engine, { owner, sessionId, runId }, closing.signal);

  return {
    run: (plan, input, { id } = {}) =>
      open(async () =>
        runOf(
          await engine.startRun({
            owner,
            plan,
            ...(input === undefined ? {} : { input }),
            ...(id === undefined ? {} : { id }),
          }),
        ),
      ),
    get: (id) =>
      open(async () => {
        const [named] = (await engine.listSessions({ owner, runId: id, limit: 1 })).items;
        return runOf(named ?? (await engine.readSession({ owner, sessionId: id, historyLimit: 1 })).core);
      }),
    runs: (query) => open(() => engine.listSessions({ owner, limit: DEFAULT_PAGE_ROWS, ...query })),
    approvals: (query) => open(() => approvals.list({ state: "pending", limit: DEFAULT_PAGE_ROWS, ...query })),
    approve: (id, options) => open(() => approvals.decide(id, { decision: "approve", ...options })),
    deny: (id, options) => open(() => approvals.decide(id, { decision: "deny", ...options })),
    call: (toolId, args = {}, { signal } = {}) =>
      open(async () => {
        const until = signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]);
        const called = await engine.callTool({ owner, toolId, args, signal: until });
        if (called.kind === "finished") return called.output;
        if (called.kind === "started") throw new Error("A call that nothing follows has no session yet.");
        const { approvalId, sessionId } = called;
        const message = `A person has to approve this call of "${toolId}" first: approve("${approvalId}"). It then runs as the session ${sessionId}.`;
        throw new ErgonError("approval_needed", message, { details: { toolId, approvalId, sessionId } });
      }),
    close: () => {
      closed ??= (async () => {
        closing.abort(new DOMException("Ergon is closed.", "AbortError"));
        await close();
      })();
      return closed;
    },
  };
}
