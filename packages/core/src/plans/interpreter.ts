/*
 * The interpreter: a pure function from (plan, cursor, completion) to (cursor, effects, writes).
 *
 * It decides what happens next and does none of it: checking, calling, evaluating pointers, sleeping and joining
 * are effects that a driver carries out and answers with completions. Values never pass through it, only
 * decisions about them, so a cursor stays small however large a run's data is. Each step kind has its own file in
 * `steps/`; this one knows lists, and which list a completion belongs to.
 *
 * P1  Same plan, cursor and completion, same answer: no clock, no store, no randomness. Time arrives as `atMs`.
 * P2  A completion for a visit that is not open, or not waiting for that kind of answer, changes nothing.
 * P3  The cursor alone says what is owed: `owed(plan, cursor)` lists the effects that a restart must begin again.
 * P4  The order in which completions of different visits arrive does not change what the run comes to.
 * P5  A visit's position is never used twice in a run.
 */
import type { Cursor, ListFrame, Spread } from "./cursor.ts";
import { childPlace, type ListPlace, rootPlace, type Visit, visitPosition } from "./visits.ts";
import { partAt } from "./position.ts";
import type { AgenticPlan, PlanStep } from "../schema/plan.ts";
import { errorValue } from "../errors/ergon-error.ts";
import { stepKind } from "./steps/step-kind.ts";
import type { Completion, Effect, Move, Out, RunEnd } from "./transition.ts";
import type { ContextWrite } from "../ports/state-store.ts";

/** One list may not execute more steps than this: a cycle that never leaves would fill the disk. */
export const MAX_VISITS_PER_LIST = 1_000_000;

export type Advance = {
  readonly cursor: Cursor;
  readonly effects: readonly Effect[];
  readonly writes: readonly ContextWrite[];
  /** Scopes that nothing will read again but their join. */
  readonly closed: readonly string[];
  /** Set when the run is over; the cursor has no meaning then. */
  readonly end?: RunEnd;
  /** The completion found nobody waiting for it (P2). */
  readonly ignored?: true;
};

export type IndexedPlan = { readonly plan: AgenticPlan; readonly steps: ReadonlyMap<string, PlanStep> };

export function indexPlan(plan: AgenticPlan): IndexedPlan {
  const steps = new Map<string, PlanStep>();
  const lists: (readonly PlanStep[])[] = [plan.steps];
  for (let list = lists.pop(); list !== undefined; list = lists.pop()) {
    for (const step of list) {
      steps.set(step.id, step);
      if (step.type === "loop_over_items") lists.push(step.loopPlan);
      if (step.type === "parallel_branch") for (const branch of step.branches) lists.push(branch.steps);
    }
  }
  return { plan, steps };
}

/** Begins a run at the step where its cursor stands: the plan's first, or the one that it was forked from. */
export function begin(plan: IndexedPlan, { run, root: { at, index } }: Cursor, atMs: number): Advance {
  const out = newOut();
  const frame = beginVisit(plan, rootPlace(run), { at, index }, out, atMs);
  return answer({ run, root: frame }, frame, out);
}

/** Takes one completion in. */
export function advance(plan: IndexedPlan, cursor: Cursor, completion: Completion): Advance {
  const out = newOut();
  const frame = deliver(plan, cursor.root, rootPlace(cursor.run), completion, out);
  if (frame === undefined) return { cursor, effects: [], writes: [], closed: [], ignored: true };
  return answer(cursor, frame, out);
}

/** The effects that are under way at this cursor: what a restart begins again (P3). */
export function owed(plan: IndexedPlan, cursor: Cursor): readonly Effect[] {
  const effects: Effect[] = [];
  const collect = (frame: ListFrame, place: ListPlace): void => {
    const visit = { place, frame, position: visitPosition(place, frame.index) };
    const effect = stepKind(stepOf(plan, frame.at)).owed(visit);
    if (effect !== undefined) effects.push(effect);
    if (frame.state.kind !== "spread") return;
    for (const [index, kid] of Object.entries(frame.state.kids))
      collect(kid, childPlace(visit.position, Number(index)));
  };
  collect(cursor.root, rootPlace(cursor.run));
  return effects;
}

export function stepOf(plan: IndexedPlan, id: string): PlanStep {
  const step = plan.steps.get(id);
  if (step === undefined) throw new Error(`The cursor is at step "${id}", which its plan does not have.`);
  return step;
}

function newOut(): Out {
  return { effects: [], writes: [], closed: [], end: undefined };
}

function answer(cursor: Cursor, frame: ListFrame | "ended", out: Out): Advance {
  const { effects, writes, closed } = out;
  const end = out.end ?? (frame === "ended" ? ({ status: "completed" } as const) : undefined);
  if (end !== undefined) return { cursor, effects: [], writes, closed, end };
  return { cursor: { run: cursor.run, root: frame === "ended" ? cursor.root : frame }, effects, writes, closed };
}

/** Hands the completion to the list that is at its visit; undefined when there is none. */
function deliver(
  plan: IndexedPlan,
  frame: ListFrame,
  place: ListPlace,
  completion: Completion,
  out: Out,
): ListFrame | "ended" | undefined {
  const position = visitPosition(place, frame.index);
  if (position === completion.position) {
    const visit: Visit = { place, frame, position };
    const move = stepKind(stepOf(plan, frame.at)).complete(visit, completion, out);
    return move === undefined ? undefined : follow(plan, visit, move, out, completion.atMs);
  }
  if (frame.state.kind !== "spread" || !completion.position.startsWith(position)) return undefined;
  const index = partAt(completion.position, position.length).value;
  const kid = frame.state.kids[String(index)];
  if (kid === undefined) return undefined;
  const changed = deliver(plan, kid, childPlace(position, index), completion, out);
  if (changed === undefined) return undefined;
  const kids = { ...frame.state.kids };
  if (changed === "ended") {
    delete kids[String(index)];
    out.closed.push(childPlace(position, index).scope);
  } else {
    kids[String(index)] = changed;
  }
  const spread: Spread = { ...frame.state, kids };
  return {
    ...frame,
    state: changed === "ended" ? fill(plan, { place, frame, position }, spread, out, completion.atMs) : spread,
  };
}

/** Carries out what a step kind decided for its own list. */
function follow(plan: IndexedPlan, visit: Visit, move: Move, out: Out, atMs: number): ListFrame | "ended" {
  switch (move.to) {
    case "next":
      if (move.stepId === undefined) return "ended";
      return beginVisit(plan, visit.place, { at: move.stepId, index: visit.frame.index + 1 }, out, atMs);
    case "again": {
      const { at, index } = visit.frame;
      return beginVisit(plan, visit.place, { at, index: index + 1, state: move.state }, out, atMs);
    }
    case "state":
      return { ...visit.frame, state: move.state };
    case "spread":
      return {
        ...visit.frame,
        state: fill(plan, visit, { kind: "spread", count: move.count, next: 0, kids: {} }, out, atMs),
      };
    case "end":
      out.end ??= move.end;
      return visit.frame;
  }
}

function beginVisit(
  plan: IndexedPlan,
  place: ListPlace,
  start: { readonly at: string; readonly index: number; readonly state?: ListFrame["state"] },
  out: Out,
  atMs: number,
): ListFrame {
  const frame: ListFrame = { at: start.at, index: start.index, state: start.state ?? { kind: "ready" } };
  if (start.index >= MAX_VISITS_PER_LIST) {
    const error = errorValue(
      "visit_limit",
      `This list of steps has run ${String(MAX_VISITS_PER_LIST)} steps without ending.`,
    );
    return { ...frame, state: { kind: "error", sinceMs: atMs, error } as ListFrame["state"] };
  }
  const visit: Visit = { place, frame, position: visitPosition(place, frame.index) };
  const move = stepKind(stepOf(plan, frame.at)).begin(visit, out);
  const begun = follow(plan, visit, move, out, atMs);
  // A step kind answers `begin` by waiting or spreading; only completions move a list on.
  return begun === "ended" ? frame : begun;
}

/** Starts branches or turns up to the step's concurrency; with none left to run, asks for the join. */
function fill(plan: IndexedPlan, visit: Visit, spread: Spread, out: Out, atMs: number): Spread {
  const step = stepOf(plan, visit.frame.at);
  const kind = stepKind(step);
  const kids: Record<string, ListFrame> = { ...spread.kids };
  let next = spread.next;
  let open = Object.keys(kids).length;
  for (; next < spread.count && open < kind.concurrency; next++, open++) {
    kids[String(next)] = beginVisit(
      plan,
      childPlace(visit.position, next),
      { at: kind.firstStepId(next), index: 0 },
      out,
      atMs,
    );
  }
  if (open === 0) out.effects.push({ kind: "join", position: visit.position, place: visit.place, stepId: step.id });
  return { kind: "spread", count: spread.count, next, kids };
}
