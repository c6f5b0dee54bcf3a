/*
 * A single call of a tool, made durable: a session whose cursor is at one built-in step. The gate is asked before
 * anything is written, so a refused call leaves nothing behind; the run takes over with the gate's answer.
 *
 * C1  Each transition is one commit. A call that may be repeated and whose caller waits for its result is recorded once
 *     it has one; before a call of effects `once` the session and its intent are on the disk (E3).
 * C2  A call that needs a person's approval is a session that waits from its first commit on, also through a restart.
 *     The approval is created before that commit: if the process dies in between, no session acts on the answer.
 * C3  The caller's signal ends a call that was allowed at once. A call that a person was asked about goes on without it.
 */
import { isErgonError, thrownFrom } from "../../../errors/ergon-error.ts";
import { gateError } from "../../../errors/gate.ts";
import { engineStopping } from "../../../errors/plan.ts";
import { isoTime } from "../../../ports/clock.ts";
import type { CalledTool, SessionRef } from "../../../ports/engine.ts";
import type { SessionCore } from "../../../schema/session.ts";
import type { AllowedCall, CallNeedingApproval, Caller } from "../../../tools/gate/call.ts";
import { offload } from "../../../tools/gate/offload.ts";
import { rootPlace, visitPosition } from "../../visits.ts";
import { callHash, singleCall } from "../../single-call.ts";
import type { CallHere } from "../engine-deps.ts";
import type { SessionReader } from "../session-reader.ts";
import { askPerson } from "../waits/ask-person.ts";
import { callOutput } from "./call-output.ts";
import type { Arrival, Attended, RunState } from "./run-state.ts";
import type { SettledWaiters } from "./settled-waiters.ts";
import { beginRun, keepContext, type StartDeps } from "./start-run.ts";

export type CallToolParts = {
  readonly deps: StartDeps;
  readonly reader: SessionReader;
  readonly waiters: SettledWaiters;
  /** Throws when the engine takes nothing new. */
  readonly admit: () => void;
  readonly isClosing: () => boolean;
};

/** One call that fails is tried again under its own id at most so often. */
const MAX_CALL_ATTEMPTS = 100;

const RUN = 1;
const POSITION = visitPosition(rootPlace(RUN), 0);

export function createCallTool(parts: CallToolParts): (request: CallHere) => Promise<CalledTool> {
  const { deps, reader, waiters } = parts;

  return async (request) => {
    const { owner, toolId, args, sessionId: forSession, follow = false, signal, progress } = request;
    parts.admit();
    const found =
      forSession === undefined
        ? undefined
        : await reader.readSession({ owner, sessionId: forSession, historyLimit: 1 });
    const context = found?.context ?? {};
    const named = request.startId === undefined ? undefined : await namedCall(reader, owner, request.startId);
    if (named?.core !== undefined) {
      const { core, sessionId } = named;
      return await outcome({ owner, sessionId }, core, { attended: undefined, patience: request.patience });
    }
    const sessionId = named?.sessionId ?? deps.ids.next("call");
    const caller = callerOf(request, found?.core.mode);
    const verdict = await deps.gate.check({ toolId, args, caller, context, sessionId });
    if (verdict.kind === "denied") throw thrownFrom(verdict.error);
    const attended: Attended | undefined = verdict.kind === "allowed" && !follow ? { progress } : undefined;
    const isHeld = attended !== undefined && verdict.effects !== "once";
    const kept = offload(args);
    const compiled = singleCall(toolId, args, kept.value);
    const calls = new AbortController();
    const end = (): void => calls.abort();
    if (attended !== undefined) signal?.addEventListener("abort", end, { once: true });
    if (attended !== undefined && signal?.aborted === true) end();
    try {
      const core = await beginRun(deps, {
        record: { owner, version: 0, core: coreOf(sessionId, found?.core.mode), cursor: null },
        checked: { plan: compiled.plan, hash: callHash(toolId), chars: 0, isStored: true },
        compiled,
        input: args,
        kept,
        cursor: { run: RUN, root: { at: compiled.plan.startStepId, index: 0, state: { kind: "ready" } } },
        calls,
        attended,
        isAwaited: !follow,
        fill: async (state) => {
          const { writes, blobs } = await keepContext(deps, context);
          state.data.write(writes, () => undefined);
          // The tool sees the context either way; it is stored for the calls that may be made later.
          const stored = isHeld ? {} : { context: writes, blobs };
          return { ...stored, checked: await arrivalOf(verdict, state), isHeld };
        },
      });
      if (follow) return { kind: "started", sessionId };
      return await outcome({ owner, sessionId }, core, { attended, patience: request.patience });
    } finally {
      signal?.removeEventListener("abort", end);
    }
  };

  function coreOf(sessionId: string, mode: SessionCore["mode"]): SessionCore {
    const at = isoTime(deps.clock);
    const core = { sessionId, createdAt: at, updatedAt: at, waiting: [], energySpent: 0, ...(mode && { mode }) };
    return { ...core, status: "running", run: RUN, currentPlanId: "call" };
  }

  /** The gate's answer as the run takes it in. */
  async function arrivalOf(verdict: AllowedCall | CallNeedingApproval, state: RunState): Promise<Arrival> {
    const at = { kind: "checked", position: POSITION, atMs: deps.clock.now() } as const;
    const asked =
      verdict.kind === "allowed"
        ? ({ kind: "allowed", call: verdict } as const)
        : await askPerson(deps.approvals, state, { position: POSITION }, verdict);
    if (asked.kind === "refused") throw thrownFrom(asked.error);
    if (asked.kind === "waiting") {
      const { approval, args } = asked;
      const waits = { answer: "needs_approval", approvalId: approval.id, message: approval.reason } as const;
      return { completion: { ...at, ...waits, ...(args === undefined ? {} : { args }) }, asked: approval };
    }
    const { requestBlob } = asked.call;
    if (requestBlob !== undefined) await deps.blobs.put(requestBlob.bytes, requestBlob.ref.mediaType);
    state.allowed.set(POSITION, asked.call);
    return { completion: { ...at, answer: "allowed" } };
  }

  /** Once the call has ended, or waits for a person longer than its caller does. */
  async function outcome(
    ref: SessionRef,
    begun: SessionCore,
    { attended, patience }: { readonly attended: Attended | undefined; readonly patience: AbortSignal | undefined },
  ): Promise<CalledTool> {
    let core = begun;
    let asked = approvalIn(core);
    for (;;) {
      const change = waiters.wait(
        ref.sessionId,
        patience === undefined || attended !== undefined ? {} : { signal: patience },
      );
      try {
        if (core.status === "running" || asked !== undefined) ({ core } = await reader.record(ref));
        const open = approvalIn(core);
        const waits = core.status === "running" && attended === undefined ? (open ?? asked) : open;
        if (waits !== undefined && (patience === undefined || patience.aborted || parts.isClosing()))
          return { kind: "needs_approval", approvalId: waits, sessionId: ref.sessionId };
        if (core.status !== "running" && open === undefined) break;
        if (parts.isClosing()) throw engineStopping();
        asked = waits;
        await change.promise;
      } finally {
        change.stop();
      }
    }
    if (attended?.outcome === undefined) return { kind: "finished", output: await callOutput(reader, core, ref) };
    if (attended.outcome.kind === "failed") throw thrownFrom(attended.outcome.error);
    return { kind: "finished", output: attended.outcome.output };
  }
}

function callerOf({ owner, typed }: CallHere, mode: SessionCore["mode"]): Caller {
  const role = typed?.role ?? mode;
  const isTyped = typed !== undefined;
  return { kind: isTyped ? "cli" : "http", owner, approved: isTyped, ...(role === undefined ? {} : { role }) };
}

function approvalIn({ waiting }: SessionCore): string | undefined {
  return waiting.find(({ approvalId }) => approvalId !== undefined)?.approvalId;
}

/**
 * The session of a call that is made once: the first of its attempts that has not failed, or the one to come. A failed
 * attempt did nothing that a further attempt would do twice.
 */
async function namedCall(
  reader: SessionReader,
  owner: string,
  startId: string,
): Promise<{ readonly sessionId: string; readonly core?: SessionCore }> {
  for (let attempt = 1; attempt <= MAX_CALL_ATTEMPTS; attempt += 1) {
    const sessionId = attempt === 1 ? startId : `${startId}.${String(attempt)}`;
    try {
      const { core } = await reader.record({ owner, sessionId });
      // A person's refusal holds for every time that the call is sent.
      const isRefused = core.lastError?.code.startsWith("approval_") === true;
      if (core.status !== "failed" || isRefused) return { sessionId, core };
    } catch (thrown) {
      if (!isErgonError(thrown) || thrown.code !== "session_not_found") throw thrown;
      return { sessionId };
    }
  }
  const message = `This call has failed ${String(MAX_CALL_ATTEMPTS)} times; make a new one, with another key.`;
  throw gateError("tool_failed", message);
}
