// A run as an object: a session of the engine, and what can be done with it.
import {
  ErgonError,
  isBlobRef,
  type Json,
  JSON_MEDIA_TYPE,
  type JsonObject,
  type SessionCore,
  type SessionStatus,
  type StoredEvent,
} from "@ergon/core";
import type { EventType, OpenWait, SessionError } from "@ergon/core/schema";
import type { Engine, SessionRef, SessionView } from "@ergon/core/engine";
import { eventsUntilSettled } from "./run-events.ts";

export type Run = {
  readonly id: string;
  readonly sessionId: string;
  /** What happened so far and then what happens, until the run waits for a person or has ended. */
  readonly events: (options?: EventOptions) => AsyncGenerator<StoredEvent, void>;
  /** Resolves when the run waits for a person or has ended, and as it is when `signal` aborts or Ergon is closed. */
  readonly settled: (options?: { readonly signal?: AbortSignal; readonly timeoutMs?: number }) => Promise<RunState>;
  /** Answers a question that the run waits with. Throws `wait_not_open`, `wait_ambiguous`, `resume_input_invalid`. */
  readonly answer: (value: Json, options?: { readonly step?: string }) => Promise<RunState>;
  /** Says how a run goes on that is paused because a step failed. */
  readonly resume: (how: ResumeRun) => Promise<RunState>;
  readonly cancel: () => Promise<RunState>;
  /** Starts a new run at a top-level step of this one, with context and history as they were then. */
  readonly fork: (from: ForkRun) => Promise<Run>;
  /**
   * The final response, once the run has ended. Throws what the run failed with, `run_cancelled`, and `run_waiting` when
   * the run waits for a person.
   */
  readonly result: (options?: { readonly signal?: AbortSignal }) => Promise<Json>;
  /** The session with its context and the newest entries of its history. */
  readonly read: (options?: {
    readonly historyLimit?: number;
    readonly historyCursor?: string;
  }) => Promise<SessionView>;
};

export type EventOptions = {
  readonly signal?: AbortSignal;
  /** Only events with a higher number (`seq`). */
  readonly after?: number;
  readonly types?: readonly EventType[];
};

export type RunState = {
  readonly sessionId: string;
  readonly status: SessionStatus;
  readonly waiting: readonly OpenWait[];
  readonly energySpent: number;
  /** The final response of a run that has completed. */
  readonly result?: Json;
  readonly error?: SessionError;
};

export type ResumeRun = {
  /** `accept` and `refuse` answer a correction that the supervisor proposed. */
  readonly action: "retry" | "skip" | "abort" | "accept" | "refuse";
  /** For a retry: in place of the arguments that failed. */
  readonly arguments?: JsonObject;
  /** The result of a call whose outcome is unknown, when a person knows it. */
  readonly happened?: Json;
  readonly step?: string;
};

export type ForkRun = { readonly fromStep: string; readonly input?: Json; readonly repeatOnce?: boolean };

export function createRun(
  engine: Engine,
  run: SessionRef & { readonly runId?: string | undefined },
  closing: AbortSignal,
): Run {
  const { owner, sessionId, runId } = run;
  const ref: SessionRef = { owner, sessionId };
  const until = (signal: AbortSignal | undefined): AbortSignal =>
    signal === undefined ? closing : AbortSignal.any([signal, closing]);
  const settled: Run["settled"] = async ({ signal, timeoutMs } = {}) => {
    const core = await engine.settled({
      ...ref,
      signal: until(signal),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
    return await stateOf(engine, ref, core);
  };
  const resume = async (input: Json, step: string | undefined): Promise<RunState> =>
    stateOf(engine, ref, await engine.resume({ ...ref, input, ...(step === undefined ? {} : { step }) }));

  return {
    id: runId ?? sessionId,
    sessionId,
    events: ({ signal, after = 0, types } = {}) =>
      eventsUntilSettled(engine, ref, { signal: until(signal), after, types }),
    settled,
    answer: async (value, { step } = {}) => resume(value, step),
    resume: async ({ step, ...how }) => resume(how, step),
    cancel: async () => stateOf(engine, ref, await engine.cancel(ref)),
    fork: async (from) => {
      const { sessionId: forked } = await engine.fork({ ...ref, ...from });
      return createRun(engine, { ...ref, sessionId: forked }, closing);
    },
    result: async (options) => {
      const { status, waiting, error, result = null } = await settled(options);
      if (status === "completed") return result;
      throw notCompleted({ sessionId, status, waiting, error });
    },
    read: async (options) => engine.readSession({ ...ref, ...options }),
  };
}

async function stateOf(engine: Engine, ref: SessionRef, core: SessionCore): Promise<RunState> {
  const { sessionId, status, waiting, energySpent, lastError: error } = core;
  return {
    sessionId,
    status,
    waiting,
    energySpent,
    ...(status === "completed" ? { result: await finalResponse(engine, ref) } : {}),
    ...(error === undefined ? {} : { error }),
  };
}

/** Whole, also where the store keeps it as a blob. */
async function finalResponse(engine: Engine, ref: SessionRef): Promise<Json> {
  const { context } = await engine.readSession({ ...ref, historyLimit: 1 });
  const found = context["finalResponse"] ?? null;
  if (!isBlobRef(found) || found.mediaType !== JSON_MEDIA_TYPE) return found;
  const { bytes } = await engine.readBlob({ owner: ref.owner, id: found.$blob });
  return JSON.parse(new TextDecoder().decode(bytes)) as Json;
}

function notCompleted({
  sessionId,
  status,
  waiting,
  error,
}: Pick<RunState, "sessionId" | "status" | "waiting"> & { readonly error: SessionError | undefined }): ErgonError {
  if (status === "failed" && error !== undefined) {
    const { code, message, retryable, ...details } = error;
    return new ErgonError(code, message, { retryable, details: { ...details, sessionId } });
  }
  const details = { sessionId, status, waiting };
  if (status === "cancelled")
    return new ErgonError("run_cancelled", `The run ${sessionId} was cancelled.`, { details });
  const named = waiting.map(({ path, kind, message }) => `${path} (${kind}): ${message}`).join("; ");
  const what = named === "" ? `is ${status}` : `waits for ${named}`;
  const remedy = "Use settled() to wait for it, and answer(), resume() or approve() to make it go on.";
  return new ErgonError("run_waiting", `The run ${sessionId} has not ended: it ${what}. ${remedy}`, { details });
}
