import type { BlobRef } from "../schema/blob.ts";
import type { EnergyRow } from "../schema/energy.ts";
import type { EventType, NewEvent, StoredEvent } from "../schema/event.ts";
import type { Json } from "../schema/values/json.ts";
import type { AgenticPlan } from "../schema/plan.ts";
import type { SessionCore, SessionStatus, StepResult } from "../schema/session.ts";
import type { Effects } from "../schema/tool.ts";

/*
 * Everything Ergon remembers, behind one atomic write.
 *
 * Invariants that every implementation keeps (the contract suite cites them):
 * S1  A commit is there wholly or not at all, also after SIGKILL at any moment.
 * S2  When `commit` resolves, the commit survives the death of the process; with `durable` also the loss of power. When
 *     `sync` resolves, every commit that had resolved before it was called survives that. What the loss of power takes
 *     is always the newest commits, never one from among them.
 * S3  A commit whose `expectVersion` does not match changes nothing and rejects with `session_conflict`; one
 *     with a `session` raises the version by one.
 * S4  Commits that were made in one turn of the event loop may share a transaction; one that fails does not
 *     take its neighbours with it. Commits of one session apply in the order in which they were made.
 * S5  Event sequence numbers grow without reuse; an event is visible only together with its commit.
 * S6  A journal row that has a result keeps it: a second finish of one row rejects with `commit_invalid`.
 * S7  Reads see every commit that has resolved; they may see one that is not synced yet.
 * S8  A commit names a session that exists, or creates it, or names none (""): then it may write only what belongs to
 *     no session. Any other is refused with `session_not_found`.
 * S9  A commit that is given as a function is asked for when its transaction begins, and not before: until then whoever
 *     makes it may go on adding to it.
 * S10 A run's id belongs to one run per owner for good: a commit with `run` whose id is taken changes nothing and rejects
 *     with `run_conflict`, or with `run_expired` when the session of that run was deleted.
 *
 * A `position` is a string that sorts bytewise in the order in which history reads.
 * Positions inside a branch or a loop turn begin with that branch's own prefix, its `scope`; the root scope is "".
 */

export type Version = number;

/** Kept once per distinct value: context and joins refer to a call's output by its position. */
export type ContextValue =
  | { readonly kind: "inline"; readonly value: Json }
  | { readonly kind: "output"; readonly position: string };

export type ContextWrite = {
  readonly scope: string;
  readonly key: string;
  /** Written by a step's own result (`<toolId>_result`), not by `saveAs`: joins treat the two differently. */
  readonly implicit?: boolean;
  readonly value: ContextValue;
};
export type ContextRow = ContextWrite;

export type JournalStart = {
  readonly kind: "start";
  readonly position: string;
  readonly scope: string;
  readonly stepId?: string;
  readonly toolId: string;
  readonly effects: Effects;
  readonly key: string;
  readonly argsHash: string;
  readonly request: Json;
  readonly at: string;
};

export type JournalFinish = {
  readonly kind: "finish";
  readonly position: string;
  readonly state: "finished" | "failed" | "unknown";
  readonly result: StepResult;
  readonly at: string;
  readonly energyUnits: number;
};

/** A call that needs no intent row, written whole: one row instead of two writes. */
export type JournalWhole = Omit<JournalStart, "kind"> &
  Omit<JournalFinish, "kind" | "at"> & { readonly kind: "whole"; readonly finishedAt: string };

export type JournalWrite = JournalStart | JournalFinish | JournalWhole;

export type JournalRow = {
  readonly position: string;
  readonly scope: string;
  readonly stepId?: string;
  readonly toolId: string;
  readonly effects: Effects;
  readonly key: string;
  readonly argsHash: string;
  readonly request: Json;
  readonly startedAt: string;
  readonly state: "started" | "finished" | "failed" | "unknown";
  readonly result?: StepResult;
  readonly finishedAt?: string;
  readonly energyUnits: number;
};

export type SessionWrite = {
  readonly core: SessionCore;
  /** The interpreter's cursor, opaque to the store; null once there is nothing to resume. */
  readonly cursor: Json;
  /** Plan and input stay as they were when they are left out. */
  readonly planHash?: string;
  readonly input?: Json;
};

export type SessionRecord = SessionWrite & { readonly owner: string; readonly version: Version };

export type BlobRow = { readonly ref: BlobRef; readonly at: string };

export type Commit = {
  /** "" for what belongs to no session (S8). */
  readonly sessionId: string;
  /** Marks the rows of this commit; a session keeps the owner that created it. */
  readonly owner: string;
  readonly session?: SessionWrite;
  /** The version this commit builds on; 0 says that the session must not exist yet. Required with `session`. */
  readonly expectVersion?: Version;
  readonly plan?: { readonly hash: string; readonly plan: AgenticPlan };
  /** Gives the session's run an id of the caller's (S11). */
  readonly run?: RunClaim;
  /** The session is being deleted at this time: the ids of its runs stay taken, and lead nowhere any more. */
  readonly expireRuns?: string;
  readonly context?: readonly ContextWrite[];
  /** Deletes the context of every scope that begins with one of these and is longer; applied before `context`. */
  readonly dropScopes?: readonly string[];
  readonly journal?: readonly JournalWrite[];
  readonly energy?: readonly EnergyRow[];
  readonly blobs?: readonly BlobRow[];
  readonly events?: readonly NewEvent[];
  /** Moves a reader's durable cursor in the same transaction. */
  readonly cursor?: { readonly name: string; readonly seq: number };
  /** Resolves only when the disk has it: before a `once` effect, and before anything is acknowledged outside. */
  readonly durable?: boolean;
};

/** The id that a caller gave to a run; `hash` says what it was started with. */
export type RunClaim = { readonly id: string; readonly hash: string };

/** A run's id as the store has it: with its session, or with the time at which that was deleted. */
export type RunRow = RunClaim &
  ({ readonly sessionId: string; readonly endedAt?: never } | { readonly sessionId?: never; readonly endedAt: string });

/** A commit, or what will make it (S9). Whoever is asked twice gives the same one. */
export type CommitSource = Commit | (() => Commit);

/** The session's version now (each write of the session adds 1), and the highest event number so far. */
export type CommitReceipt = { readonly version: Version; readonly lastSeq: number };

/** What happened in one commit. */
export type CommitNews = {
  readonly owner: string;
  /** Undefined when it names no session. */
  readonly sessionId: string | undefined;
  /** Of its events, in their order. */
  readonly types: readonly EventType[];
  /** The number of the last of them. */
  readonly lastSeq: number;
  /** The events themselves: made when they are asked for, since most listeners want few of them. */
  readonly events: () => readonly StoredEvent[];
};

/** Half-open range of positions, [from, to). */
export type PositionRange = { readonly from: string; readonly to: string };

export type JournalQuery = {
  readonly sessionId: string;
  /** Disjoint and ascending; absent means the whole session. */
  readonly ranges?: readonly PositionRange[];
  readonly stepId?: string;
  /** Only rows that have a result, as history shows them. */
  readonly settledOnly?: boolean;
  readonly order: "newest" | "oldest";
  readonly offset?: number;
  readonly limit: number;
};

export type SessionQuery = {
  readonly owner?: string;
  readonly status?: readonly SessionStatus[];
  /** Only the session that has the run of this id. */
  readonly runId?: string;
  /** Newest first by default; recovery reads oldest first. */
  readonly order?: "newest" | "oldest";
  readonly cursor?: string;
  readonly limit: number;
};

export type EventQuery = {
  readonly afterSeq: number;
  readonly owner?: string;
  readonly sessionId?: string;
  readonly limit: number;
};

export type Page<T> = { readonly items: readonly T[]; readonly nextCursor?: string };

export type EnergyTotals = { readonly units: number; readonly rows: number };

/** No query answers with more than this many rows. */
export const MAX_PAGE_ROWS = 1_000;

export type StateStore = {
  /** It keeps nothing beyond the program that opened it. */
  readonly isVolatile?: true;

  commit(commit: CommitSource): Promise<CommitReceipt>;
  /** Waits for the disk (S2). Those who go on meanwhile share the wait with others. */
  sync(): Promise<void>;

  readSession(sessionId: string): Promise<SessionRecord | undefined>;
  listSessions(query: SessionQuery): Promise<Page<SessionRecord>>;
  /** What became of a run's id; undefined when the owner has given it to no run. */
  readRun(run: { readonly owner: string; readonly id: string }): Promise<RunRow | undefined>;
  readPlan(hash: string): Promise<AgenticPlan | undefined>;

  /** All rows of these scopes, scope by scope, in key order. */
  readContext(sessionId: string, scopes: readonly string[]): Promise<readonly ContextRow[]>;
  /** Rows of every scope that begins with `scopePrefix`, in scope order, a page at a time. */
  readScopes(query: {
    readonly sessionId: string;
    readonly scopePrefix: string;
    readonly cursor?: string;
    readonly limit: number;
  }): Promise<Page<ContextRow>>;
  readJournal(query: JournalQuery): Promise<readonly JournalRow[]>;
  readJournalRow(sessionId: string, position: string): Promise<JournalRow | undefined>;

  readEvents(query: EventQuery): Promise<readonly StoredEvent[]>;
  lastEventSeq(): Promise<number>;
  readCursor(name: string): Promise<number>;
  /** Called after each transaction that made events visible, with the news of its commits. */
  watch(listener: (news: readonly CommitNews[]) => void): () => void;

  readEnergy(query: { readonly sessionId?: string; readonly owner?: string }): Promise<EnergyTotals>;
  readBlobRow(id: string, owner?: string): Promise<(BlobRow & { readonly owner: string }) | undefined>;

  close(): Promise<void>;
};

/** Spec 4's state store, name and methods as written there; `createSpecStateStore` puts it on top of a StateStore. */
export type IStateStore = {
  /** What spec 4's form lacks of ours begins empty. */
  createSession(core: SpecSessionCore): Promise<void>;
  readSessionCore(sessionId: string): Promise<SessionCore | null>;
  updateSessionStatus(sessionId: string, status: SessionStatus, error?: unknown): Promise<void>;
  appendToHistory(sessionId: string, entry: HistoryInput): Promise<void>;
  getContext(sessionId: string): Promise<Record<string, unknown>>;
  updateContext(sessionId: string, updates: Record<string, unknown>): Promise<void>;
  putBlob(sessionId: string, bytes: Uint8Array, mediaType: string): Promise<BlobRef>;
  getBlob(sessionId: string, id: string): Promise<Uint8Array>;
};

/** Spec 4's form of a session, and what ours has beyond it. */
export type SpecSessionCore = Partial<Omit<SessionCore, "lastError">> &
  Pick<SessionCore, "sessionId" | "status" | "createdAt" | "updatedAt"> & { readonly lastError?: unknown };

export type HistoryInput = {
  readonly timestamp: string;
  readonly toolId: string;
  readonly request: unknown;
  readonly result: unknown;
  readonly planStepId?: string;
};
