import type { Approval } from "../../../schema/approval.ts";
import type { Correction } from "../../../schema/correction.ts";
import { asJson, type Json } from "../../../schema/values/json.ts";
import type { Cursor } from "../../cursor.ts";
import type { Completion } from "../../transition.ts";
import { visitPath } from "../../visits.ts";
import { CORRECTIONS_SCOPE } from "../correction-rows.ts";
import { endRow, note, type CommitBuilder } from "./commit-builder.ts";
import type { Arrival } from "./run-state.ts";

/** Closes the row of a call whose outcome was unknown, by what a person said. */
function recordUnknown(
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
  if (completion.correction !== undefined) recordCorrection(completion.correction, builder);
  switch (completion.kind) {
    case "approval":
      if (completion.state === "lost") return;
      recordAnswer(before, completion, builder);
      note(builder, "session-resumed", { stepId: stepIdAt(before, completion.position), answer: answerOf(completion) });
      return;
    case "answered":
    case "reviewed":
    case "decided":
      note(builder, "session-resumed", { stepId: stepIdAt(before, completion.position), answer: answerOf(completion) });
      if (completion.kind === "decided") recordUnknown(before, completion, builder);
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
      if (asked !== undefined) recordQuestion(before, completion.position, asked, builder);
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

function recordQuestion(before: Cursor, position: string, asked: Approval, builder: CommitBuilder): void {
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

function recordAnswer(
  before: Cursor,
  completion: Extract<Completion, { kind: "approval" }>,
  builder: CommitBuilder,
): void {
  const { approvalId, position, state, by, feedback } = completion;
  const said = { ...(by === undefined ? {} : { by }), ...(feedback === undefined ? {} : { feedback }) };
  note(builder, "approval-decided", { approvalId, stepId: stepIdAt(before, position), position, state, ...said });
}

/** The correction as it stands now, and the event when it came into being or took effect. */
function recordCorrection(correction: Correction, builder: CommitBuilder): void {
  const { correctionId, state, call: _call, run: _run, proposedAt: _at, settledAt: _settled, ...rest } = correction;
  const value = asJson(correction);
  builder.context.push({ scope: CORRECTIONS_SCOPE, key: correctionId, value: { kind: "inline", value } });
  const data = { correctionId, ...rest, error: asJson(rest.error), diff: asJson(rest.diff) };
  if (state === "applied") note(builder, "correction-applied", data);
  if (state === "proposed" || (state === "accepted" && correction.settledAt === undefined))
    note(builder, "correction-proposed", { ...data, needsApproval: state === "proposed" });
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
