import type { ErrorRecord } from "../../schema/error.ts";
import type { Visit } from "../frames.ts";
import type { At, Completion, Decision, Move, Out, StepKind } from "../transition.ts";

export function at(visit: Visit): At {
  return { ord: visit.ord, place: visit.place, stepId: visit.frame.at };
}

export function failMove(error: ErrorRecord, atMs: number): Move {
  return { to: "state", state: { kind: "error", sinceMs: atMs, error } };
}

/**
 * What all kinds share when a step has failed: it waits, and a decision retries it as a new visit, skips it or ends
 * the run. Returns undefined when the completion is not about that.
 */
export function settleFailure(visit: Visit, completion: Completion, skipTo: string | undefined): Move | undefined {
  const { state } = visit.frame;
  if (completion.kind === "failed") {
    const joining = state.kind === "spread" && Object.keys(state.kids).length === 0;
    return state.kind === "ready" || joining ? failMove(completion.error, completion.atMs) : undefined;
  }
  if (completion.kind !== "decided" || state.kind !== "error") return undefined;
  return decide(completion.decision, state.error, skipTo);
}

function decide(decision: Decision, error: ErrorRecord, skipTo: string | undefined): Move | undefined {
  switch (decision.action) {
    case "retry":
      return { to: "again", ...(decision.args === undefined ? {} : { state: { args: decision.args } }) };
    case "skip":
      return { to: "next", stepId: skipTo };
    case "abort":
      return { to: "end", end: { status: "failed", error } };
    case "happened":
      return undefined;
  }
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
