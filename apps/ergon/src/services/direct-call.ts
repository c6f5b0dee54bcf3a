// One tool, called by a person or a program instead of a plan. It passes the gate like every call, and leaves a session
// of its own behind, so that what was done can be looked up.
import {
  type BlobParts,
  type BlobStore,
  type Caller,
  type CallOutcome,
  type Clock,
  type Commit,
  type CommitReceipt,
  ErgonError,
  ErrorRecord,
  type ErrorValue,
  type Ids,
  type Infrastructure,
  isoTime,
  type Json,
  type JournalStart,
  ownedBlobs,
  type PendingBlob,
  type ProgressUpdate,
  type SessionCore,
  type ToolContext,
  type ToolGate,
} from "@ergon/core";

export type DirectCallDeps = {
  readonly gate: ToolGate;
  /** Asked once the gate has allowed the call, and before the tool runs: what cannot be recorded is not done. */
  readonly open: () => Promise<Records>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly infrastructure?: Omit<Infrastructure, "sessionId">;
};

type Records = {
  readonly state: { commit(commit: Commit): Promise<CommitReceipt> } & BlobParts["store"];
  readonly blobs: Pick<BlobStore, "put" | "get">;
};

export type DirectCall = {
  readonly toolId: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly caller: Caller;
  /** That of the session for which it is called; none when it is called for itself. */
  readonly context?: ToolContext;
  readonly signal: AbortSignal;
  readonly progress?: (update: ProgressUpdate) => void;
};

/** What became of it; a call that a person must approve first has not been made, and nothing was written. */
export type DirectResult =
  | (DirectOutcome & { readonly kind: "finished" })
  | { readonly kind: "needs_approval"; readonly reason: string };

type DirectOutcome = {
  readonly sessionId: string;
  readonly output: Json;
  readonly durationMs: number;
  readonly energyUnits: number;
};

/**
 * Calls a tool and records it in one commit; a call of effects `once` is recorded as begun before it is sent. Throws
 * what the gate denied (then nothing was written) or what became of the call (then that is recorded).
 */
export async function callDirectly(deps: DirectCallDeps, call: DirectCall): Promise<DirectResult> {
  const { gate, clock, ids } = deps;
  const { toolId, args, caller, context = {} } = call;
  const sessionId = ids.next("call");
  const checked = await gate.check({ toolId, args, caller, context, sessionId });
  if (checked.kind === "denied") throw thrownFrom(checked.error);
  if (checked.kind === "needs_approval") return { kind: "needs_approval", reason: checked.reason };

  const createdAt = isoTime(clock);
  const key = `${sessionId}:0:call:0`;
  const { effects, argsHash, requestBlob } = checked;
  const request = requestBlob?.ref ?? checked.resolvedArgs;
  const begun = { position: ORD, scope: "", toolId, effects, key, argsHash, request } as const;
  const records = await deps.open();
  const record = recorder({ ...records, clock }, caller.owner, { sessionId, createdAt });
  if (effects === "once") await record.begin({ kind: "start", at: createdAt, ...begun }, requestBlob);

  const infrastructure = { ...deps.infrastructure, sessionId };
  const blobs = ownedBlobs({ store: records.state, blobs: records.blobs }, caller.owner);
  const options = { idempotencyKey: key, context, infrastructure, signal: call.signal, blobs };
  const outcome = await gate.invoke(
    checked,
    call.progress === undefined ? options : { ...options, progress: call.progress },
  );
  await record.finish({ kind: "start", at: createdAt, ...begun }, outcome, requestBlob);
  if (outcome.kind === "failed") throw thrownFrom(outcome.error);
  const { output, durationMs, energyUnits } = outcome;
  return { kind: "finished", sessionId, output, durationMs, energyUnits };
}

/** Before every run that a session counts: plans begin with run 1. */
const ORD = "1010";

type Recorder = {
  readonly begin: (start: JournalStart, requestBlob: PendingBlob | undefined) => Promise<void>;
  readonly finish: (start: JournalStart, outcome: CallOutcome, requestBlob: PendingBlob | undefined) => Promise<void>;
};

function recorder(
  deps: Records & Pick<DirectCallDeps, "clock">,
  owner: string,
  session: Pick<SessionCore, "sessionId" | "createdAt">,
): Recorder {
  const { clock, state: store, blobs: blobStore } = deps;
  let version = 0;
  const write = async (
    core: SessionCore,
    rest: Omit<Commit, "sessionId" | "owner" | "session">,
    blobs: CallOutcome["blobs"],
  ) => {
    await Promise.all(
      blobs.map(async ({ bytes, ref }) => (bytes === undefined ? ref : blobStore.put(bytes, ref.mediaType))),
    );
    const at = isoTime(clock);
    const receipt = await store.commit({
      sessionId: session.sessionId,
      owner,
      session: { core, cursor: null },
      expectVersion: version,
      blobs: blobs.map(({ ref }) => ({ ref, at })),
      durable: true,
      ...rest,
    });
    version = receipt.version;
  };
  const core = (rest: Pick<SessionCore, "status" | "energySpent" | "lastError">): SessionCore => {
    return { ...session, updatedAt: isoTime(clock), waiting: [], run: 0, ...rest };
  };

  return {
    /** Written as what it is if nothing more is ever heard of it. */
    async begin(start, requestBlob) {
      const lastError = { ...UNKNOWN, message: `"${start.toolId}" was called and its result is not known.` };
      const events = [{ type: "session-created", at: start.at, data: { toolId: start.toolId } } as const];
      const state = core({ status: "paused_on_error", energySpent: 0, lastError });
      await write(state, { journal: [start], events }, list(requestBlob));
    },
    async finish(start, outcome, requestBlob) {
      const at = isoTime(clock);
      const result = outcome.kind === "ok" ? { output: outcome.output } : { error: recorded(outcome.error) };
      const state = outcome.kind === "ok" ? "finished" : outcome.error.code === UNKNOWN.code ? "unknown" : "failed";
      const finish = { position: start.position, state, result, energyUnits: outcome.energyUnits } as const;
      const isBegun = version > 0;
      const journal = isBegun
        ? ({ kind: "finish", at, ...finish } as const)
        : ({ ...start, ...finish, kind: "whole", finishedAt: at } as const);
      const status = STATUS[state];
      const data = { toolId: start.toolId };
      const created = isBegun ? [] : [{ type: "session-created", at: start.at, data } as const];
      const ended = { type: EVENT[state], at, data };
      const failed =
        outcome.kind === "ok" ? {} : { lastError: { ...recorded(outcome.error), needsPerson: state === "unknown" } };
      await write(
        core({ status, energySpent: outcome.energyUnits, ...failed }),
        { journal: [journal], energy: [outcome.rows.energy], events: [...created, ...outcome.rows.events, ended] },
        [...(isBegun ? [] : list(requestBlob)), ...outcome.blobs],
      );
    },
  };
}

const UNKNOWN = { code: "outcome_unknown", retryable: false, needsPerson: true } as const;
const STATUS = { finished: "completed", failed: "failed", unknown: "paused_on_error" } as const;
const EVENT = { finished: "session-completed", failed: "session-failed", unknown: "session-paused" } as const;

function list(blob: PendingBlob | undefined): readonly PendingBlob[] {
  return blob === undefined ? [] : [blob];
}

/** As the journal keeps it: details that are no JSON stay behind. */
function recorded(error: ErrorValue): ErrorRecord {
  const { code, message, retryable } = error;
  const parsed = ErrorRecord.safeParse(error);
  return parsed.success ? parsed.data : { code, message, retryable };
}

/** A value of an error, to be thrown. */
export function thrownFrom({ code, message, retryable, details }: ErrorValue | ErrorRecord): ErgonError {
  return new ErgonError(code, message, details === undefined ? { retryable } : { retryable, details });
}
