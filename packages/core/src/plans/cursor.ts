import type { ProposedCorrection } from "../schema/correction.ts";
import type { ErrorRecord } from "../schema/error.ts";
import type { JsonObject } from "../schema/values/json.ts";
import type { GivenAnswer, Question } from "../schema/question.ts";
import { encodePart, partAt } from "./position.ts";

/**
 * The cursor of a run: a small tree that says which step each list is at, and nothing of what steps produced.
 * It is stored in every commit, so it stays small: finished branches and turns leave only a count.
 */
export type Cursor = { readonly run: number; readonly root: ListFrame };

export type ListFrame = {
  readonly at: string;
  /** How many steps this list has executed before this visit; makes every visit's position unique. */
  readonly slot: number;
  readonly state: StepState;
};

/** When a wait is over by the wall clock, and how long it was to take; a cursor of 0.1.0 has only the first. */
export type Due = { readonly untilMs: number; readonly forMs?: number };

export type StepState =
  /** The step has begun and awaits its first answer (a check, an evaluation). */
  | (Amended & Asked & { readonly kind: "ready" })
  | (Amended & { readonly kind: "call"; readonly attempt: number })
  /** Attempt 0: a correction put the step's first attempt off. */
  | (Amended & Due & { readonly kind: "backoff"; readonly attempt: number })
  | (Amended &
      Asked & {
        readonly kind: "approval";
        readonly sinceMs: number;
        readonly message: string;
        readonly approvalId: string;
      })
  | (Amended & {
      readonly kind: "human";
      readonly sinceMs: number;
      readonly message: string;
      /** What a tool asks, and which attempt asked it; absent where the step itself is the question. */
      readonly asked?: { readonly question: Question; readonly attempt: number };
    })
  | Failed
  | Spread;

type Failed = Amended & {
  readonly kind: "error";
  readonly sinceMs: number;
  readonly error: ErrorRecord;
  readonly correction?: ProposedCorrection;
  /** The supervisor has nothing (more) to propose. */
  readonly needsPerson?: true;
};

/** What a person or a correction put in place of what the plan says of this visit. */
export type Amendment = {
  readonly args?: JsonObject;
  readonly toolId?: string;
  /** The visit whose idempotency key is used: the same call is made once more. */
  readonly keyOrd?: string;
  /** What a person has answered to the call's questions. */
  readonly answers?: readonly GivenAnswer[];
};
type Amended = { readonly amendment?: Amendment };
/** What a person is asked about, to be called as it is; for this visit alone. */
type Asked = { readonly args?: JsonObject };

/** Branches or loop turns under way. Those before `next` that are not in `kids` are done. */
export type Spread = {
  readonly kind: "spread";
  readonly count: number;
  readonly next: number;
  readonly kids: Readonly<Record<string, ListFrame>>;
};

/** Where a list stands: positions of its visits begin with `prefix`; its context is kept under `scope`. */
export type ListPlace = { readonly prefix: string; readonly scope: string };

/** The root list of a run. Its context is the session's own, which outlives the run. */
export function rootPlace(run: number): ListPlace {
  return { prefix: encodePart(run), scope: "" };
}

/** The list of branch or turn `index` of the step visited at `position`. */
export function childPlace(position: string, index: number): ListPlace {
  const prefix = position + encodePart(index);
  return { prefix, scope: prefix };
}

export function visitPosition(place: ListPlace, slot: number): string {
  return place.prefix + encodePart(slot);
}

export type Visit = { readonly place: ListPlace; readonly frame: ListFrame; readonly position: string };

/** Every open visit, enclosing ones first. */
export function* openVisits(cursor: Cursor): Generator<Visit> {
  yield* visitsBelow(cursor.root, rootPlace(cursor.run));
}

function* visitsBelow(frame: ListFrame, place: ListPlace): Generator<Visit> {
  const position = visitPosition(place, frame.slot);
  yield { place, frame, position };
  if (frame.state.kind !== "spread") return;
  for (const [index, kid] of Object.entries(frame.state.kids))
    yield* visitsBelow(kid, childPlace(position, Number(index)));
}

/** The visits from the root to `position`; empty when no list is at that visit (any more). */
export function visitPath(cursor: Cursor, position: string): readonly Visit[] {
  const path: Visit[] = [];
  let frame = cursor.root;
  let place = rootPlace(cursor.run);
  for (;;) {
    const here = visitPosition(place, frame.slot);
    path.push({ place, frame, position: here });
    if (here === position) return path;
    if (frame.state.kind !== "spread" || !position.startsWith(here)) return [];
    const index = partAt(position, here.length).value;
    const kid = frame.state.kids[String(index)];
    if (kid === undefined) return [];
    frame = kid;
    place = childPlace(here, index);
  }
}
