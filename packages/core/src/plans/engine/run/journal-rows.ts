/*
 * The books of a run: turns what happened into the rows of a commit. Reads the run's state and writes the builder, nothing else.
 */
import { gateError } from "../../../errors/gate.ts";
import type { Approval } from "../../../schema/approval.ts";
import type { Correction } from "../../../schema/correction.ts";
import type { ErrorRecord } from "../../../schema/error.ts";
import type { Json, JsonObject } from "../../../schema/values/json.ts";
import type { SessionCore, SessionStatus } from "../../../schema/session.ts";
import { ownFailure } from "../../../tools/gate/own-failure.ts";
import type { Cursor } from "../../cursor.ts";
import { openVisits, visitPath } from "../../visits.ts";
import type { Completion, Effect } from "../../transition.ts";
import { stepOf } from "../../interpreter.ts";
import { refusalOf } from "../../refusal.ts";
import { waitsOn } from "../../steps/tool-call.ts";
import { CORRECTIONS_SCOPE } from "../correction-rows.ts";
import { beginRow, endRow, note, type CommitBuilder } from "./commit-builder.ts";
import { idempotencyKey, toolStep, type Arrival, type RunState } from "./run-state.ts";
import { placedWaits, shownError, statusOf } from "../waits/waits.ts";

/** The intent row of a first attempt; later attempts have theirs already. */
export function recordIntent(
  state: RunState,
  effect: Extract<Effect, { kind: "invoke" }>,
  builder: CommitBuilder,
): void {
  const call = state.allowed.get(effect.position);
  // What is not in memory after a pause may be `once`, and owes an fsync if it is.
  if (call === undefined || call.effects === "once") builder.durable = true;
  if (call !== undefined && effect.attempt === 1) {
    if (call.requestBlob !== undefined) builder.blobs.push({ ref: call.requestBlob.ref, at: builder.at });
    beginRow(builder, {
      kind: "start",
      position: effect.position,
      scope: effect.place.scope,
      stepId: effect.stepId,
      toolId: call.toolId,
      effects: call.effects,
      key: idempotencyKey(state.sessionId, effect.amendment?.keyPosition ?? effect.position),
      argsHash: call.argsHash,
      request: call.requestBlob?.ref ?? call.resolvedArgs,
      at: builder.at,
    });
  }
  const toolId = effect.amendment?.toolId ?? toolStep(state.plan, effect.stepId).toolId;
  note(builder, "step-started", { stepId: effect.stepId, toolId, position: effect.position, attempt: effect.attempt });
}

/** The end of a call, unless another attempt follows at the same position. */
export function recordCall(state: RunState, before: Cursor, arrival: Arrival, builder: CommitBuilder): void {
  const { completion, call } = arrival;
  if (completion.kind !== "called") return;
  const { position } = completion;
  const frame = visitPath(before, position).at(-1)?.frame;
  const stepId = frame?.at ?? "";
  const amendment = frame?.state.kind === "call" ? frame.state.amendment : undefined;
  const toolId = amendment?.toolId ?? toolStep(state.plan, stepId).toolId;
  const energyUnits = call?.energyUnits ?? 0;
  if (call !== undefined) {
    state.energySpent += energyUnits;
    builder.energy.push(call.rows.energy);
    builder.events.push(...call.rows.events);
    for (const blob of call.blobs) builder.blobs.push({ ref: blob.ref, at: builder.at });
  }
  if (completion.ok) {
    const output = call?.kind === "ok" ? call.output : null;
    const reused = arrival.reusedFrom === undefined ? {} : { reused: arrival.reusedFrom };
    const result = { output, ...reused };
    endRow(builder, { kind: "finish", position, state: "finished", result, at: builder.at, energyUnits });
    const failure = ownFailure(output);
    const refused = failure === undefined ? {} : { failure: asJson(failure) };
    note(builder, "step-finished", { stepId, toolId, position, energyUnits, ...reused, ...refused });
    state.allowed.delete(position);
    return;
  }
  const { error } = completion;
  const next = visitPath(state.cursor, position).at(-1)?.frame.state.kind;
  if (next === "human") {
    // It has not failed: it is made again with the answer. Until then nothing is set aside for it.
    state.allowed.delete(position);
    return;
  }
  const willRetry = next === "backoff";
  note(builder, "step-failed", { stepId, toolId, position, error: asJson(error), willRetry });
  if (willRetry) return;
  state.allowed.delete(position);
  const isUnknown = error.code === "outcome_unknown";
  // A call with an unknown outcome has no result yet: a person may still say what it was, if the run waits for one.
  if (isUnknown && waitsOn(toolStep(state.plan, stepId), error)) return;
  const ended = isUnknown ? "unknown" : "failed";
  endRow(builder, { kind: "finish", position, state: ended, result: { error }, at: builder.at, energyUnits });
}

/** A call that the gate refused has no row of its own; where the run goes on without it, history must still show it. */
export function recordRefused(state: RunState, before: Cursor, completion: Completion, builder: CommitBuilder): void {
  const error = refusedBy(completion);
  const visit = error === undefined ? undefined : visitPath(before, completion.position).at(-1);
  if (error === undefined || visit === undefined || stepOf(state.plan, visit.frame.at).type !== "tool_call") return;
  const step = toolStep(state.plan, visit.frame.at);
  if (waitsOn(step, error)) return;
  const { position } = completion;
  builder.journal.push({
    kind: "whole",
    position,
    scope: visit.place.scope,
    stepId: step.id,
    toolId: step.toolId,
    // It was never called, so nothing can have come of it.
    effects: "pure",
    key: idempotencyKey(state.sessionId, position),
    argsHash: "",
    request: step.arguments ?? {},
    at: builder.at,
    state: "failed",
    result: { error },
    finishedAt: builder.at,
    energyUnits: 0,
  });
}

function refusedBy(completion: Completion): ErrorRecord | undefined {
  if (completion.kind === "failed") return completion.error;
  const isAnswer = completion.kind === "approval" && completion.state !== "approved" && completion.state !== "lost";
  return isAnswer ? refusalOf(completion) : undefined;
}

/** Closes the row of a call whose outcome was unknown, by what a person said. */
function bookUnknown(
  before: Cursor,
  completion: Extract<Completion, { kind: "decided" }>,
  builder: CommitBuilder,
): void {
  const { position, decision } = completion;
  const state = visitPath(before, position).at(-1)?.frame.state;
  if (state?.kind !== "error" || state.error.code !== "outcome_unknown") return;
  const isKnown = "output" in decision && decision.output !== undefined;
  endRow(builder, {
    kind: "finish",
    position,
    state: isKnown ? "finished" : "unknown",
    result: isKnown ? { output: decision.output } : { error: state.error },
    at: builder.at,
    energyUnits: 0,
  });
}

/** What a person or the supervisor did, and steps that failed short of a call. */
export function recordArrival(before: Cursor, { completion, asked }: Arrival, builder: CommitBuilder): void {
  if (completion.correction !== undefined) bookCorrection(completion.correction, builder);
  switch (completion.kind) {
    case "approval":
      if (completion.state === "lost") return;
      bookAnswer(before, completion, builder);
      note(builder, "session-resumed", { stepId: stepIdAt(before, completion.position), answer: answerOf(completion) });
      return;
    case "answered":
    case "reviewed":
    case "decided":
      note(builder, "session-resumed", { stepId: stepIdAt(before, completion.position), answer: answerOf(completion) });
      if (completion.kind === "decided") bookUnknown(before, completion, builder);
      return;
    case "failed":
      note(builder, "step-failed", {
        stepId: stepIdAt(before, completion.position),
        position: completion.position,
        error: asJson(completion.error),
        willRetry: false,
      });
      return;
    case "checked":
      if (asked !== undefined) bookQuestion(before, completion.position, asked, builder);
      return;
    case "called":
    case "evaluated":
    case "woke":
    case "joined":
    case "proposed":
    case "escalated":
      return;
  }
}

function bookQuestion(before: Cursor, position: string, asked: Approval, builder: CommitBuilder): void {
  const { id: approvalId, tool: toolId, server, parameters, estimatedEnergyCost, fingerprint, reason } = asked;
  const { step: path = "", changes, conversationId, expiresAt } = asked;
  const where = { stepId: stepIdAt(before, position), path, position };
  const more = {
    ...(changes === undefined ? {} : { changes: asJson(changes) }),
    ...(conversationId === undefined ? {} : { conversationId }),
  };
  const what = { toolId, server, parameters, estimatedEnergyCost, fingerprint, reason, expiresAt };
  note(builder, "approval-requested", { approvalId, ...where, ...what, ...more });
}

function bookAnswer(
  before: Cursor,
  completion: Extract<Completion, { kind: "approval" }>,
  builder: CommitBuilder,
): void {
  const { approvalId, position, state, by, feedback } = completion;
  const said = { ...(by === undefined ? {} : { by }), ...(feedback === undefined ? {} : { feedback }) };
  note(builder, "approval-decided", { approvalId, stepId: stepIdAt(before, position), position, state, ...said });
}

/** The correction as it stands now, and the event when it came into being or took effect. */
function bookCorrection(correction: Correction, builder: CommitBuilder): void {
  const { correctionId, state, call: _call, run: _run, proposedAt: _at, settledAt: _settled, ...rest } = correction;
  const value = asJson(correction);
  builder.context.push({ scope: CORRECTIONS_SCOPE, key: correctionId, value: { kind: "inline", value } });
  const data = { correctionId, ...rest } as unknown as JsonObject;
  if (state === "applied") note(builder, "correction-applied", data);
  if (state === "proposed" || (state === "accepted" && correction.settledAt === undefined))
    note(builder, "correction-proposed", { ...data, needsApproval: state === "proposed" });
}

/** Closes the rows of calls that a cancel leaves behind: what had been sent and could not be taken back is unknown. */
export function recordCancel(state: RunState, builder: CommitBuilder): void {
  for (const { frame, position } of openVisits(state.cursor)) {
    const asking = frame.state.kind === "human" && frame.state.asked !== undefined;
    // A call whose server asks may have done some of its work before.
    const unsettled = asking || (frame.state.kind === "error" && frame.state.error.code === "outcome_unknown");
    if (frame.state.kind !== "call" && frame.state.kind !== "backoff" && !unsettled) continue;
    const unknown =
      unsettled || (frame.state.kind === "call" && (state.allowed.get(position)?.effects ?? "once") === "once");
    const error = unknown
      ? gateError("outcome_unknown", "The session was cancelled while this call was under way.")
      : gateError("cancelled", "The session was cancelled.");
    const result = { error: error.toJSON() as ErrorRecord };
    endRow(builder, {
      kind: "finish",
      position,
      state: unknown ? "unknown" : "failed",
      result,
      at: builder.at,
      energyUnits: 0,
    });
  }
  builder.changed = true;
  builder.end = { status: "cancelled" };
}

/** The session as it is after this builder; a change of status is announced. */
export function recordSession(state: RunState, builder: CommitBuilder, supervised: boolean): SessionCore {
  const core = nextCore(state, builder, supervised);
  if (core.status === "running") return core;
  if (builder.end === undefined && core.status === state.core.status && !waitsChanged(state.core, core)) return core;
  const error = core.lastError === undefined ? {} : { error: asJson(core.lastError) };
  if (builder.end === undefined) {
    note(builder, "session-paused", { status: core.status, waiting: asJson(core.waiting), ...error });
  } else {
    note(builder, `session-${builder.end.status}`, { status: core.status, ...error });
  }
  return core;
}

/** Whoever watches must hear of a new question, though the session had stopped at another before. */
function waitsChanged(before: SessionCore, after: SessionCore): boolean {
  const named = ({ waiting }: SessionCore): string =>
    waiting
      .map(({ path, kind, since, approvalId, needsPerson, correction }) =>
        [path, kind, since, approvalId, needsPerson, correction?.correctionId, correction?.accepted].join(" "),
      )
      .join("\n");
  return named(before) !== named(after);
}

function nextCore(state: RunState, builder: CommitBuilder, supervised: boolean): SessionCore {
  if (builder.end !== undefined) {
    const core = coreAt(state, builder, builder.end.status);
    return builder.end.status === "failed" ? { ...core, lastError: builder.end.error } : core;
  }
  const { cursor } = state;
  const status = statusOf(cursor);
  const now = coreAt(state, builder, status);
  now.currentStepId = cursor.root.at;
  // A single line of steps that runs has no waits; looking for them would be work on the hot path.
  if (status === "running" && cursor.root.state.kind !== "spread") return now;
  const waits = placedWaits(state.plan, cursor, supervised);
  const lastError = shownError(waits);
  return { ...now, waiting: waits.map(({ wait }) => wait), ...(lastError === undefined ? {} : { lastError }) };
}

/** Field by field: it is made with every commit, and copying an object's rest is slow. */
function coreAt({ core, energySpent }: RunState, builder: CommitBuilder, status: SessionStatus): SessionCore {
  const { sessionId, createdAt, run, currentPlanId, mode, energyBudget, conversationId, forkedFrom } = core;
  const next: SessionCore = { sessionId, status, createdAt, updatedAt: builder.at, waiting: [], run, energySpent };
  if (currentPlanId !== undefined) next.currentPlanId = currentPlanId;
  if (mode !== undefined) next.mode = mode;
  if (energyBudget !== undefined) next.energyBudget = energyBudget;
  if (conversationId !== undefined) next.conversationId = conversationId;
  if (forkedFrom !== undefined) next.forkedFrom = forkedFrom;
  return next;
}

function stepIdAt(cursor: Cursor, position: string): string {
  return visitPath(cursor, position).at(-1)?.frame.at ?? "";
}

function answerOf(completion: Extract<Completion, { kind: "answered" | "approval" | "reviewed" | "decided" }>): Json {
  switch (completion.kind) {
    case "answered":
      return { kind: "input" };
    case "approval":
      return { kind: "approval", approvalId: completion.approvalId, approved: completion.state === "approved" };
    case "reviewed":
      return { kind: "review", accepted: completion.accepted };
    case "decided":
      return {
        kind: "decision",
        action: completion.decision.action,
        ...(completion.correction?.state === "applied" ? { correctionId: completion.correction.correctionId } : {}),
      };
  }
}

/** Records are JSON by their schema; the types only lack the index signature. */
function asJson(value: object): Json {
  return value as Json;
}
