/*
 * The supervisor: sees to failed steps, from outside. The engine pauses and says so in the outbox; this reads it there,
 * chooses a correction, and has it carried out by a correction plan in a session of its own. The engine never repairs.
 *
 * U1  A failure has at most one correction; its id follows from the failure, so that proposing it again changes nothing.
 * U2  A correction is in the corrected session's record before its own session begins; what a death interrupts is taken
 *     up from there, and applied once.
 * U3  It ends: a step has few corrections, a session has a budget, and correction sessions are not corrected.
 * U4  An unknown outcome is never touched, and whatever it cannot help with it leaves to a person, saying so.
 */
import { isErgonError, toErgonError } from "../../errors/ergon-error.ts";
import type { ArgumentRepairer } from "../../ports/argument-repairer.ts";
import { type Clock, isoTime } from "../../ports/clock.ts";
import type { SessionRef } from "../../ports/engine.ts";
import type { Logger } from "../../ports/logger.ts";
import type { StateStore } from "../../ports/state-store.ts";
import { type Correction, isCorrectionSession } from "../../schema/correction.ts";
import type { StoredEvent } from "../../schema/event.ts";
import type { JsonObject } from "../../schema/values/json.ts";
import type { SessionCore } from "../../schema/session.ts";
import type { ToolRegistry } from "../../tools/registry.ts";
import type { Failure } from "../engine/corrections.ts";
import type { EmbeddedEngine } from "../engine/engine.ts";
import { type Choice, chooseCorrection } from "./choose-correction.ts";
import { correctionIdFor, correctionPlan, correctTool } from "./correction-plan.ts";
import { createOutboxReader } from "./outbox-reader.ts";
import { schemaRepairer } from "./schema-repairer.ts";

/** Corrections that one session may have in all. */
export const DEFAULT_CORRECTION_BUDGET = 20;
export const MAX_CORRECTION_BUDGET = 1_000;
const CURSOR_NAME = "supervisor";

/** `auto`: a correction is carried out at once. `ask`: a person accepts it first. `off`: a person sees to every failure. */
export type CorrectionMode = "auto" | "ask" | "off";

export type Supervisor = {
  /** With `catchUp`, also what failed while nobody was there. */
  readonly start: (options?: { readonly catchUp?: boolean }) => void;
  /** Proposes nothing new, and lets corrections under way end within `graceMs`. */
  readonly stop: (options?: { readonly graceMs?: number }) => Promise<void>;
};

/** Spec 4's name for it. */
export type ISupervisorService = Supervisor;

export type SupervisorDeps = {
  readonly store: StateStore;
  readonly engine: EmbeddedEngine;
  readonly registry: ToolRegistry;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly mode?: CorrectionMode;
  readonly sessionBudget?: number;
  /** Asked where the schema alone does not help. */
  readonly repairer?: ArgumentRepairer;
};

type LeftStep = Pick<Correction, "stepId" | "path" | "position" | "error"> & { readonly planId: string };

export function createSupervisor(deps: SupervisorDeps): Supervisor {
  const { store, engine, registry, clock, logger, mode = "auto" } = deps;
  const { corrections } = engine;
  const sessionBudget = Math.min(deps.sessionBudget ?? DEFAULT_CORRECTION_BUDGET, MAX_CORRECTION_BUDGET);
  const repairers = [schemaRepairer, ...(deps.repairer === undefined ? [] : [deps.repairer])];
  const underWay = new Map<string, SessionRef>();
  const failures = { name: CURSOR_NAME, type: "session-paused", wants: isFailure } as const;
  const reader = createOutboxReader({ ...failures, store, clock, logger, attend });
  registry.registerInternal(correctTool(store, corrections.apply));

  return {
    start: ({ catchUp = true } = {}) => reader.start({ catchUp }),
    stop: async ({ graceMs = 0 } = {}) => {
      await reader.stop();
      const ends = [...underWay.values()].map((session) => engine.settled({ ...session, timeoutMs: graceMs }));
      await Promise.allSettled(ends);
    },
  };

  async function attend(session: SessionRef, signal: AbortSignal): Promise<void> {
    if (isCorrectionSession(session.sessionId)) return giveUp(session, signal);
    for (const failure of await openFailures(session)) await attendTo(session, failure, signal);
  }

  async function attendTo(session: SessionRef, failure: Failure, signal: AbortSignal): Promise<void> {
    const past = await corrections.list(session);
    const correctionId = correctionIdFor(session.sessionId, failure.position);
    const known = past.find((correction) => correction.correctionId === correctionId);
    const { planId } = failure.plan;
    if (known?.state === "accepted") return begin(session, planId, known);
    const choice = await choose(failure, past, signal);
    if (choice.kind === "person")
      return leaveToPerson(session, { ...failure, planId, stepId: failure.step.id }, choice.reason);
    const correction = correctionOf(correctionId, failure, choice);
    if ((await corrections.propose(session, correction)) && correction.state === "accepted")
      await begin(session, planId, correction);
  }

  async function leaveToPerson(session: SessionRef, failed: LeftStep, reason: string): Promise<void> {
    const { planId, stepId, path, position, error } = failed;
    logger.warn(
      { ...session, planId, stepId, path, code: error.code, error: error.message, reason },
      `Supervisor: step "${stepId}" of plan "${planId}" failed and needs a person. Its run waits: ergon sessions show ${session.sessionId}`,
    );
    await corrections.escalate(session, position);
  }

  /** What cannot be chosen for is a person's: a broken repairer must not leave a session waiting for ever. */
  async function choose(failure: Failure, past: readonly Correction[], signal: AbortSignal): Promise<Choice> {
    if (mode === "off") return { kind: "person", reason: "Corrections are switched off." };
    try {
      return await chooseCorrection(failure, past, {
        toolOf: (toolId) => registry.get(toolId),
        repairers,
        sessionBudget,
        signal,
      });
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      const error = toErgonError(thrown, "choice_failed").toJSON();
      logger.error({ path: failure.path, error }, "No correction could be chosen.");
      return { kind: "person", reason: error.message };
    }
  }

  function correctionOf(
    correctionId: string,
    { step, path, position, run, error }: Failure,
    { strategy, summary, diff, call }: Extract<Choice, { kind: "correction" }>,
  ): Correction {
    return {
      correctionId,
      state: mode === "ask" ? "proposed" : "accepted",
      strategy,
      stepId: step.id,
      path,
      position,
      run,
      summary,
      error,
      diff,
      call,
      proposedAt: isoTime(clock),
    };
  }

  /** Sees that the correction's session is there and runs (U2); one that has ended without help was of no help. */
  async function begin(corrected: SessionRef, planId: string, correction: Correction): Promise<void> {
    const session = { owner: corrected.owner, sessionId: correction.correctionId };
    const core = (await find(session)) ?? (await make(session, corrected, correction));
    if (core.run === 0 && core.status === "paused") {
      const plan = correctionPlan(correction.strategy);
      await engine.executePlan({ ...session, plan, input: { sessionId: corrected.sessionId } });
      underWay.set(session.sessionId, session);
      const ended = (): boolean => underWay.delete(session.sessionId);
      engine.settled(session).then(ended, ended);
      return;
    }
    if (core.status === "running" || core.status === "paused") return;
    await leaveToPerson(corrected, { ...correction, planId }, `The correction ended as ${core.status}.`);
  }

  async function make(session: SessionRef, corrected: SessionRef, correction: Correction): Promise<SessionCore> {
    const { strategy, summary, diff, stepId, path, position } = correction;
    const corrects = { sessionId: corrected.sessionId, stepId, path, position };
    const context = { corrects, strategy, summary, diff } as unknown as JsonObject;
    return engine.createSession({ ...session, context });
  }

  async function find(session: SessionRef): Promise<SessionCore | undefined> {
    try {
      return await engine.settled({ ...session, timeoutMs: 0 });
    } catch (thrown) {
      if (isErgonError(thrown) && thrown.code === "session_not_found") return undefined;
      throw thrown;
    }
  }

  /** A correction session that failed: it is not corrected itself, and what it was for is a person's now. */
  async function giveUp(session: SessionRef, signal: AbortSignal): Promise<void> {
    for (const { position } of await openFailures(session)) await corrections.escalate(session, position);
    const { context } = await engine.readSession({ ...session, historyLimit: 1 });
    const corrects = context["corrects"] as { readonly sessionId?: unknown } | undefined;
    if (typeof corrects?.sessionId === "string" && !isCorrectionSession(corrects.sessionId))
      await attend({ owner: session.owner, sessionId: corrects.sessionId }, signal);
  }

  /** None when the session has ended, or somebody else has answered. */
  async function openFailures(session: SessionRef): Promise<readonly Failure[]> {
    try {
      return await corrections.failures(session);
    } catch (thrown) {
      if (isErgonError(thrown) && thrown.code === "wait_not_open") return [];
      throw thrown;
    }
  }
}

function isFailure({ data }: StoredEvent): boolean {
  return data["status"] === "paused_on_error";
}
