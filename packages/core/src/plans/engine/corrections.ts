/*
 * What the supervisor sees and does of a session: its failures, and four moves. The engine itself repairs nothing.
 *
 * C1  A correction belongs to one failed visit. Once that visit is settled, by it or by anybody else, it changes nothing.
 * C2  Its row, its event and what it changes are one commit.
 * C3  It is applied only when it is accepted, and then once, however often it is asked for.
 */
import { isErgonError } from "../../errors/ergon-error.ts";
import { planError } from "../../errors/plan.ts";
import { isoTime } from "../../ports/clock.ts";
import type { SessionRef } from "../../ports/engine.ts";
import type { Correction, ProposedCorrection } from "../../schema/correction.ts";
import type { ErrorRecord } from "../../schema/error.ts";
import type { JsonObject } from "../../schema/values/json.ts";
import type { AgenticPlan, PlanStep, ToolCallStep } from "../../schema/plan.ts";
import type { OpenWait } from "../../schema/session.ts";
import type { CheckAnswer } from "../../tools/gate/gate.ts";
import type { MaybePromise } from "../../tools/tool.ts";
import type { Visit } from "../visits.ts";
import { stepOf } from "../interpreter.ts";
import { resolveWith } from "../pointer/resolve.ts";
import { resolveTemplate } from "../pointer/template.ts";
import type { Decision } from "../transition.ts";
import { readCorrections } from "./correction-rows.ts";
import { deliver } from "./run/deliver.ts";
import type { EngineDeps } from "./engine-deps.ts";
import type { RunPool } from "./run/run-pool.ts";
import type { RunState } from "./run/run-state.ts";
import { placedWaits } from "./waits/waits.ts";

/** A failed visit that waits for the supervisor. */
export type Failure = {
  readonly position: string;
  readonly path: string;
  readonly step: PlanStep;
  readonly plan: AgenticPlan;
  readonly run: number;
  readonly error: ErrorRecord;
  readonly proposed?: ProposedCorrection;
  /** What was, or would have been, called; absent where that cannot be worked out. */
  readonly call?: FailedCall;
};

export type FailedCall = {
  readonly toolId: string;
  readonly args: JsonObject;
  /** Whether the gate would let this call through, in this session and at this step. */
  readonly check: (toolId: string, args: JsonObject) => MaybePromise<CheckAnswer>;
};

export type Corrections = {
  readonly failures: (session: SessionRef) => Promise<readonly Failure[]>;
  /** All corrections that the session has had, oldest first. */
  readonly list: (session: SessionRef) => Promise<readonly Correction[]>;
  /** False when the failure has been settled, or has a correction. */
  readonly propose: (session: SessionRef, correction: Correction) => Promise<boolean>;
  /** From now on the failure waits for a person. */
  readonly escalate: (session: SessionRef, position: string) => Promise<boolean>;
  /** The correction as it stands afterwards: `applied`, or what came first. */
  readonly apply: (session: SessionRef, correctionId: string) => Promise<Correction>;
};

export function createCorrections({ deps, pool }: { readonly deps: EngineDeps; readonly pool: RunPool }): Corrections {
  return {
    list: ({ sessionId }) => readCorrections(deps.store, sessionId),
    failures: async (session) => {
      const run = await pool.take(session);
      try {
        const found: Failure[] = [];
        for (const { visit, wait } of placedWaits(run.state.plan, run.state.cursor, true)) {
          if (wait.error === undefined || wait.needsPerson === true) continue;
          found.push(await failureAt(run.state, visit, { path: wait.path, error: wait.error }));
        }
        return found;
      } finally {
        pool.release(run);
      }
    },
    propose: async (session, correction) => {
      const told = await deliver(pool, session, ({ state }) =>
        failedWait(state, correction.position) === undefined
          ? undefined
          : { kind: "proposed", position: correction.position, atMs: deps.clock.now(), correction },
      );
      return told !== undefined;
    },
    escalate: async (session, position) => {
      const told = await deliver(pool, session, ({ state }) =>
        failedWait(state, position) !== undefined ? { kind: "escalated", position, atMs: deps.clock.now() } : undefined,
      );
      return told !== undefined;
    },
    apply: async (session, correctionId) => {
      const stands = await find(session, correctionId);
      if (stands.state !== "accepted") return stands;
      const told = await deliver(pool, session, ({ state }) => {
        if (failedWait(state, stands.position)?.correction?.correctionId !== correctionId) return undefined;
        const correction: Correction = { ...stands, state: "applied", settledAt: isoTime(deps.clock) };
        const atMs = deps.clock.now();
        return { kind: "decided", position: stands.position, atMs, decision: decisionOf(stands, atMs), correction };
      }).catch((thrown: unknown) => {
        if (isErgonError(thrown) && thrown.code === "wait_not_open") return undefined;
        throw thrown;
      });
      if (told === undefined) await refuseWhileOpen(session, correctionId);
      const after = await find(session, correctionId);
      // The session was ended, and with it the failure that this was for.
      return after.state === "accepted" ? { ...after, state: "superseded" } : after;
    },
  };

  /** The failure waits for this correction and did not take it: the engine begins nothing new. */
  async function refuseWhileOpen({ sessionId }: SessionRef, correctionId: string): Promise<void> {
    const record = await deps.store.readSession(sessionId);
    if (record?.core.waiting.some(({ correction }) => correction?.correctionId === correctionId) !== true) return;
    throw planError("engine_stopping", "Ergon is shutting down; the correction is applied at the next start.", {
      retryable: true,
    });
  }

  async function find({ sessionId }: SessionRef, correctionId: string): Promise<Correction> {
    const all = await readCorrections(deps.store, sessionId);
    const found = all.find((one) => one.correctionId === correctionId);
    if (found !== undefined) return found;
    throw planError("correction_not_found", `Session ${sessionId} has no correction "${correctionId}".`);
  }

  async function failureAt(
    state: RunState,
    visit: Visit,
    { path, error }: { readonly path: string; readonly error: ErrorRecord },
  ): Promise<Failure> {
    const step = stepOf(state.plan, visit.frame.at);
    const proposed = visit.frame.state.kind === "error" ? visit.frame.state.correction : undefined;
    const call = step.type === "tool_call" ? await failedCall(state, visit, step) : undefined;
    return {
      position: visit.position,
      path,
      step,
      plan: state.plan.plan,
      run: state.cursor.run,
      error,
      ...(proposed === undefined ? {} : { proposed }),
      ...(call === undefined ? {} : { call }),
    };
  }

  async function failedCall(state: RunState, visit: Visit, step: ToolCallStep): Promise<FailedCall | undefined> {
    const amendment = visit.frame.state.kind === "error" ? visit.frame.state.amendment : undefined;
    const args = amendment?.args ?? (await planArguments(state, visit));
    if (args === undefined) return undefined;
    const { sessionId, owner, core } = state;
    return {
      toolId: amendment?.toolId ?? step.toolId,
      args,
      check: (toolId, given) =>
        deps.gate.check({
          toolId,
          args: given,
          context: state.data.contextOf(visit.place),
          caller: { kind: "plan", owner, ...(core.mode === undefined ? {} : { role: core.mode }) },
          sessionId,
        }),
    };
  }

  /** Undefined where a pointer leads nowhere: what the step would be called with is not known. */
  async function planArguments(state: RunState, { place, position, frame }: Visit): Promise<JsonObject | undefined> {
    const needed = state.plan.dataOf(frame.at);
    if (needed.kind !== "arguments") return undefined;
    const loaded = new Map<string, unknown>();
    try {
      const { value } = await resolveWith(
        () => resolveTemplate(needed.template, state.data.view(place, loaded)),
        (loads) => state.data.load({ place, position }, loads, loaded),
      );
      return value as JsonObject;
    } catch (thrown) {
      deps.logger.debug({ sessionId: state.sessionId, stepId: frame.at, error: thrown }, "Arguments are not known.");
      return undefined;
    }
  }
}

function failedWait({ plan, cursor }: RunState, position: string): OpenWait | undefined {
  return placedWaits(plan, cursor).find((placed) => placed.position === position && placed.wait.kind === "error")?.wait;
}

function decisionOf({ call }: Correction, nowMs: number): Decision {
  if (call.action === "skip") return { action: "skip" };
  return {
    action: "retry",
    ...(call.arguments === undefined ? {} : { args: call.arguments }),
    ...(call.toolId === undefined ? {} : { toolId: call.toolId }),
    ...(call.sameKey === true ? { sameKey: true } : {}),
    ...(call.delayMs === undefined ? {} : { wait: { untilMs: nowMs + call.delayMs, forMs: call.delayMs } }),
  };
}
