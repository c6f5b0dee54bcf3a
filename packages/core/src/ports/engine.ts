import type { Correction } from "../schema/correction.ts";
import type { JsonObject, Json } from "../schema/values/json.ts";
import type { RunDiff } from "../schema/run-diff.ts";
import type { AgenticPlan } from "../schema/plan.ts";
import type { HistoryEntry, Mode, OpenCall, SessionContext, SessionCore, SessionStatus } from "../schema/session.ts";
import type { StoredEvent } from "../schema/event.ts";
import type { ProgressUpdate } from "../schema/tool.ts";
import type { Page } from "./state-store.ts";

/*
 * Runs plans durably. The local form owns a data folder; the remote form is a client of the process that does.
 * Every call is made by somebody (`owner`); what another made answers `session_not_found`.
 *
 * N1  When a call resolves, what it changed survives a crash.
 * N2  A refused call changes nothing.
 */
export type Engine = {
  createSession(request: CreateSession): Promise<SessionCore>;
  /**
   * Starts a plan and resolves at once, unless it is told to wait. Throws `plan_invalid` with all problems, `session_busy`
   * while one is unfinished.
   */
  executePlan(request: ExecutePlan): Promise<SessionCore>;
  /**
   * Calls one tool. The call is a session of its own; one that needs a person's approval waits there and goes on when it is
   * given. Throws what the gate denies, and then nothing is written, or what the tool failed with.
   */
  callTool(request: CallTool): Promise<CalledTool>;
  /**
   * Makes a session and starts a plan in it, in one commit. With an `id` that is the owner's already, gives the session of
   * that run, finished or not; throws `run_conflict` when the plan or the input is another one, `run_expired` when the run
   * was deleted, and what `executePlan` throws.
   */
  startRun(request: NewRun): Promise<SessionCore>;
  /** Answers an open wait. Throws `wait_not_open`, `wait_ambiguous`, `resume_input_invalid`. */
  resume(request: ResumeSession): Promise<SessionCore>;
  cancel(request: SessionRef): Promise<SessionCore>;
  /**
   * Starts a new session at a top-level step of another's latest run, with context and history as they were when that
   * step last began; the other is left as it is. Throws `plan_missing`, `step_not_found`, `step_nested`,
   * `step_not_reached`, `once_repeated`, `fork_too_large`, and what `executePlan` throws.
   */
  fork(request: ForkSession): Promise<SessionCore>;
  readSession(request: ReadSession): Promise<SessionView>;
  /** Lays the latest runs of two sessions beside each other. */
  diff(request: SessionRef & { readonly withSessionId: string }): Promise<RunDiff>;
  listSessions(request: ListSessions): Promise<Page<SessionCore>>;
  /** Resolves when the session waits for a person, has ended, or `timeoutMs` have passed; and as it is when the engine closes. */
  settled(request: SessionRef & { readonly timeoutMs?: number; readonly signal?: AbortSignal }): Promise<SessionCore>;
  /** Events after `afterSeq`, then new ones as they come, until the signal aborts. */
  follow(request: FollowEvents): AsyncIterable<StoredEvent>;
  readBlob(request: {
    readonly owner: string;
    readonly id: string;
  }): Promise<{ readonly bytes: Uint8Array; readonly mediaType: string }>;
};

export type SessionRef = { readonly owner: string; readonly sessionId: string };

/** A call with `waitMs` resolves once the session has settled, at the latest after that time; a change may resolve earlier. */
export type Waiting = { readonly waitMs?: number; readonly signal?: AbortSignal };

export type CreateSession = {
  readonly owner: string;
  readonly sessionId?: string;
  readonly context?: JsonObject;
  readonly mode?: Mode;
  readonly energyBudget?: number;
};

export type ExecutePlan = SessionRef &
  Waiting & {
    readonly plan: AgenticPlan | string;
    readonly input?: Json;
    /** Makes the session when there is none, in the same commit: a refused plan leaves no empty session behind. */
    readonly create?: boolean;
    /** As that of `startRun`; a run of this id in another session is a conflict. */
    readonly id?: string;
  };

/** `id`: unique per owner; the same id with the same plan and input is the same run. */
export type NewRun = Pick<ExecutePlan, "owner" | "plan" | "input"> & { readonly id?: string };

export type CallTool = {
  readonly owner: string;
  readonly toolId: string;
  readonly args: JsonObject;
  /** The session for which it is called: the tool sees its context, and is kept to its mode. */
  readonly sessionId?: string | undefined;
  /** A person typed it on this machine: it counts as approved, for the role that they named. */
  readonly typed?: { readonly role?: string | undefined } | undefined;
  /** Answers with the session once it is stored: its caller follows it, and the tool may ask questions there. */
  readonly follow?: boolean | undefined;
  /** Ends a call that was allowed at once and that its caller does not follow. */
  readonly signal?: AbortSignal | undefined;
  /** Heard only where this process runs the tool. */
  readonly progress?: ((update: ProgressUpdate) => void) | undefined;
};

export type CalledTool =
  | { readonly kind: "finished"; readonly output: Json }
  | { readonly kind: "needs_approval"; readonly approvalId: string; readonly sessionId: string }
  /** With `follow` only. */
  | { readonly kind: "started"; readonly sessionId: string };

export type ResumeSession = SessionRef &
  Waiting & {
    /** A step id, or a wait's path where several visits of one step wait. */
    readonly step?: string;
    readonly input?: Json;
    /** False for whoever may not accept or refuse what the supervisor proposed; it throws `forbidden` then. */
    readonly mayApprove?: boolean;
  };

export type ForkSession = SessionRef & {
  readonly fromStep: string;
  /** In place of the input that the other session's plan was given. */
  readonly input?: Json;
  readonly newSessionId?: string;
  /** Also where calls of effects `once` that this step or a later one has made would be made again. */
  readonly repeatOnce?: boolean;
};

export type ReadSession = SessionRef & Waiting & { readonly historyLimit?: number; readonly historyCursor?: string };

export type SessionView = {
  readonly core: SessionCore;
  readonly context: SessionContext;
  /** Oldest first; the newest ones, with a cursor to those before. */
  readonly history: readonly HistoryEntry[];
  readonly nextCursor?: string;
  /** Calls without a result, in the order of their steps; absent when there is none. */
  readonly openCalls?: readonly OpenCall[];
  /** What the supervisor proposed and did, oldest first; absent when it had nothing to do. */
  readonly corrections?: readonly Correction[];
};

export type ListSessions = {
  readonly owner: string;
  readonly status?: readonly SessionStatus[];
  /** Only the session that has the run of this id. */
  readonly runId?: string;
  readonly limit: number;
  readonly cursor?: string;
};

export type FollowEvents = {
  readonly owner: string;
  readonly sessionId?: string;
  /** "now": only what comes from now on. */
  readonly afterSeq: number | "now";
  /** Told when it has begun, and behind which event: whatever comes later is given. */
  readonly onBegun?: (afterSeq: number) => void;
  readonly signal: AbortSignal;
};
