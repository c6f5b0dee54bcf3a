/*
 * The journal rows and events of a run's calls. Reads the run's state and writes the builder, nothing else.
 * Covered by engine-contract.test.ts, outcomes.test.ts and simulation.test.ts.
 */
import { gateError } from "../../../errors/gate.ts";
import type { ErrorRecord } from "../../../schema/error.ts";
import { asJson } from "../../../schema/values/json.ts";
import { ownFailure } from "../../../tools/gate/own-failure.ts";
import type { Cursor } from "../../cursor.ts";
import { openVisits, visitPath } from "../../visits.ts";
import type { Completion, Effect } from "../../transition.ts";
import { stepOf } from "../../interpreter.ts";
import { refusalOf } from "../../refusal.ts";
import { waitsOn } from "../../steps/tool-call.ts";
import { beginRow, endRow, note, type CommitBuilder } from "./commit-builder.ts";
import { idempotencyKey, toolStep, type Arrival, type RunState } from "./run-state.ts";

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
