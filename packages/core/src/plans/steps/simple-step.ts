import type { ErrorRecord } from "../../schema/error.ts";
import type { Amendment, StepState } from "../cursor.ts";
import type { Visit } from "../visits.ts";
import type { At, Completion, Decision, Move, Out, StepKind } from "../transition.ts";

export function at(visit: Visit): At {
  return { position: visit.position, place: visit.place, stepId: visit.frame.at };
}

export function failMove(visit: Visit, error: ErrorRecord, atMs: number): Move {
  return { to: "state", state: { kind: "error", sinceMs: atMs, error, ...amended(visit) } };
}

/** What stands in place of the plan's, carried from one state of a visit to the next. */
export function amended({ frame: { state } }: Visit): { readonly amendment?: Amendment } {
  if (state.kind === "spread" || state.amendment === undefined) return {};
  return { amendment: state.amendment };
}

/**
 * What all kinds share when a step has failed: it waits for the supervisor, then for a person, and a decision retries it
 * as a new visit, skips it or ends the run. Returns undefined when the completion is not about that.
 */
export function settleFailure(visit: Visit, completion: Completion, skipTo: string | undefined): Move | undefined {
  const { state } = visit.frame;
  if (completion.kind === "failed") {
    const joining = state.kind === "spread" && Object.keys(state.kids).length === 0;
    return state.kind === "ready" || joining ? failMove(visit, completion.error, completion.atMs) : undefined;
  }
  if (state.kind !== "error") return undefined;
  if (completion.kind === "decided") return decide(visit, state, completion, skipTo);
  const changed = correct(state, completion);
  return changed === undefined ? undefined : { to: "state", state: changed };
}

type Failed = Extract<StepState, { kind: "error" }>;

/** What the supervisor, or a person asked by it, does to a failed step short of settling it. */
function correct(state: Failed, completion: Completion): Failed | undefined {
  if (completion.kind === "escalated") return state.needsPerson === true ? undefined : { ...state, needsPerson: true };
  if (completion.kind === "proposed") {
    if (completion.correction === undefined || state.correction !== undefined || state.needsPerson === true)
      return undefined;
    const { correctionId, strategy, summary, state: stands } = completion.correction;
    return { ...state, correction: { correctionId, strategy, summary, accepted: stands === "accepted" } };
  }
  if (completion.kind !== "reviewed" || state.correction === undefined || state.correction.accepted) return undefined;
  if (completion.accepted) return { ...state, correction: { ...state.correction, accepted: true } };
  const { correction: _refused, ...rest } = state;
  return { ...rest, needsPerson: true };
}

function decide(
  visit: Visit,
  state: Failed,
  { decision, correction }: Extract<Completion, { kind: "decided" }>,
  skipTo: string | undefined,
): Move | undefined {
  // A correction is for the failure that it was proposed for, and only once somebody has agreed to it.
  const isApplied = correction?.state === "applied";
  if (isApplied && !(state.correction?.correctionId === correction.correctionId && state.correction.accepted))
    return undefined;
  switch (decision.action) {
    case "retry":
      return { to: "again", state: again(visit, state.error.code, decision) };
    case "skip":
      return { to: "next", stepId: skipTo };
    case "abort":
      return { to: "end", end: { status: "failed", error: state.error } };
    case "happened":
      return undefined;
  }
}

/** What was corrected once stays so, unless this decision says otherwise. */
function again(visit: Visit, code: string, decision: Extract<Decision, { action: "retry" }>): StepState {
  const before = amended(visit).amendment;
  const isSameCall = decision.args === undefined && decision.toolId === undefined;
  // An answer that a call was given and that failed may have been the wrong one; of an unknown outcome nobody knows that.
  const answers = isSameCall && code === "outcome_unknown" ? before?.answers : undefined;
  const args = decision.args ?? before?.args;
  const toolId = decision.toolId ?? before?.toolId;
  const amendment: Amendment = {
    ...(args === undefined ? {} : { args }),
    ...(toolId === undefined ? {} : { toolId }),
    ...(answers === undefined ? {} : { answers }),
    ...(decision.sameKey === true ? { keyPosition: before?.keyPosition ?? visit.position } : {}),
  };
  const changes = Object.keys(amendment).length === 0 ? {} : { amendment };
  if (decision.wait === undefined) return { kind: "ready", ...changes };
  return { kind: "backoff", attempt: 0, ...decision.wait, ...changes };
}

/** A step whose whole work is one evaluation of data. */
export function evaluatingStep(parts: {
  readonly skipTo: string | undefined;
  readonly evaluated: (
    visit: Visit,
    completion: Extract<Completion, { kind: "evaluated" }>,
    out: Out,
  ) => Move | undefined;
  readonly complete?: (visit: Visit, completion: Completion, out: Out) => Move | undefined;
  readonly concurrency?: number;
  readonly firstStepId?: (index: number) => string;
}): StepKind {
  return {
    begin: (visit, out) => {
      out.effects.push({ kind: "evaluate", ...at(visit) });
      return { to: "state", state: visit.frame.state };
    },
    complete: (visit, completion, out) => {
      if (completion.kind === "evaluated") {
        return visit.frame.state.kind === "ready" ? parts.evaluated(visit, completion, out) : undefined;
      }
      return settleFailure(visit, completion, parts.skipTo) ?? parts.complete?.(visit, completion, out);
    },
    owed: (visit) => {
      if (visit.frame.state.kind === "ready") return { kind: "evaluate", ...at(visit) };
      return owedJoin(visit);
    },
    concurrency: parts.concurrency ?? 0,
    firstStepId: parts.firstStepId ?? noList,
  };
}

export function owedJoin(visit: Visit): ReturnType<StepKind["owed"]> {
  const { state } = visit.frame;
  const done = state.kind === "spread" && state.next >= state.count && Object.keys(state.kids).length === 0;
  return done ? { kind: "join", ...at(visit) } : undefined;
}

export function noList(): never {
  throw new Error("This step holds no list of steps.");
}
