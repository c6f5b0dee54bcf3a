import type { OpenWait, SessionError, SessionStatus } from "../../../schema/session.ts";
import type { HumanInTheLoopStep } from "../../../schema/plan.ts";
import { stepOf, type IndexedPlan } from "../../interpreter.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Cursor, Due, ListFrame } from "../../cursor.ts";
import { childPlace, type ListPlace, rootPlace, type Visit, visitPath, visitPosition } from "../../visits.ts";
import { partAt } from "../../position.ts";

/** A wait, and the visit that has it. */
export type PlacedWait = { readonly position: string; readonly visit: Visit; readonly wait: OpenWait };

/**
 * What the cursor says of the session as a whole. It runs while anything can move; when nothing can, an error outranks
 * a person, and a person outranks time.
 */
export function statusOf(cursor: Cursor): SessionStatus {
  const seen = { running: false, error: false, human: false };
  look(cursor.root, seen);
  if (seen.running) return "running";
  if (seen.error) return "paused_on_error";
  return seen.human ? "paused_on_human" : "paused";
}

function look(frame: ListFrame, seen: { running: boolean; error: boolean; human: boolean }): void {
  switch (frame.state.kind) {
    case "ready":
    case "call":
      seen.running = true;
      return;
    case "error":
      seen.error = true;
      return;
    case "human":
    case "approval":
      seen.human = true;
      return;
    case "backoff":
      return;
    case "spread": {
      let open = 0;
      for (const index in frame.state.kids) {
        const kid = frame.state.kids[index];
        if (kid !== undefined) look(kid, seen);
        open++;
      }
      // Nothing under way means that the join is.
      if (open === 0) seen.running = true;
    }
  }
}

/** Every open wait with a path that a person can read and name: `each[3]/ask`. */
export function placedWaits(plan: IndexedPlan, cursor: Cursor, supervised = false): readonly PlacedWait[] {
  const found: PlacedWait[] = [];
  const collect = (frame: ListFrame, place: ListPlace, parent: string): void => {
    const path = parent + frame.at;
    const position = visitPosition(place, frame.index);
    const wait = waitOf(plan, frame, path, supervised);
    if (wait !== undefined) found.push({ position, visit: { place, frame, position }, wait });
    if (frame.state.kind !== "spread") return;
    for (const [index, kid] of Object.entries(frame.state.kids)) {
      collect(kid, childPlace(position, Number(index)), `${path}[${index}]/`);
    }
  };
  collect(cursor.root, rootPlace(cursor.run), "");
  return found;
}

/** The same path for any open visit. */
export function pathOf(cursor: Cursor, position: string): string {
  const visits = visitPath(cursor, position);
  const parts = visits.map(({ frame, position: here }, at) => {
    const inner = visits[at + 1];
    return inner === undefined ? frame.at : `${frame.at}[${String(partAt(inner.position, here.length).value)}]/`;
  });
  return parts.join("");
}

/** The error that a session shows: the first of those that wait, in reading order. */
export function shownError(waits: readonly PlacedWait[]): SessionError | undefined {
  for (const { wait } of waits) {
    if (wait.error === undefined) continue;
    const { error, stepId, needsPerson } = wait;
    return { ...error, stepId, ...(needsPerson === undefined ? {} : { needsPerson }) };
  }
  return undefined;
}

/** When each sleeper of a run wakes by this process's monotonic clock, by the position of its visit. */
export type Dues = ReadonlyMap<string, { readonly untilMs: number; readonly atMs: number }>;

/** Of a cursor that an earlier process wrote. */
export function duesOf(cursor: Cursor, clock: Clock): Dues {
  const found = new Map<string, { readonly untilMs: number; readonly atMs: number }>();
  const scan = (frame: ListFrame, place: ListPlace): void => {
    const { state } = frame;
    const position = visitPosition(place, frame.index);
    if (state.kind === "backoff") found.set(position, { untilMs: state.untilMs, atMs: dueAt(state, clock) });
    if (state.kind !== "spread") return;
    for (const [index, kid] of Object.entries(state.kids)) scan(kid, childPlace(position, Number(index)));
  };
  scan(cursor.root, rootPlace(cursor.run));
  return found;
}

/**
 * When a stored wait is over by the monotonic clock. The wall clock may have been set since it was stored: it never takes
 * longer than it was declared to take.
 */
export function dueAt({ untilMs, forMs = Number.POSITIVE_INFINITY }: Due, clock: Clock): number {
  return clock.monotonic() + Math.min(Math.max(0, untilMs - clock.now()), forMs);
}

function waitOf(plan: IndexedPlan, frame: ListFrame, path: string, supervised: boolean): OpenWait | undefined {
  const { state } = frame;
  switch (state.kind) {
    case "human": {
      const { inputSchema } = state.asked?.question ?? (stepOf(plan, frame.at) as HumanInTheLoopStep);
      const schema = inputSchema === undefined ? {} : { inputSchema };
      return { stepId: frame.at, path, kind: "human", message: state.message, since: iso(state.sinceMs), ...schema };
    }
    case "approval":
      return {
        stepId: frame.at,
        path,
        kind: "approval",
        message: state.message,
        approvalId: state.approvalId,
        since: iso(state.sinceMs),
      };
    case "error":
      return {
        stepId: frame.at,
        path,
        kind: "error",
        message: state.error.message,
        error: state.error,
        ...(supervised ? { needsPerson: needsPerson(state) } : {}),
        ...(state.correction === undefined ? {} : { correction: state.correction }),
        since: iso(state.sinceMs),
      };
    case "backoff": {
      const next = state.attempt === 0 ? "A retry" : `Attempt ${String(state.attempt + 1)}`;
      const until = iso(state.untilMs);
      return { stepId: frame.at, path, kind: "time", message: `${next} follows at ${until}.`, since: until, until };
    }
    case "ready":
    case "call":
    case "spread":
      return undefined;
  }
}

/** A call of which nobody knows whether it took effect is never the supervisor's to repeat. */
function needsPerson(state: Extract<ListFrame["state"], { kind: "error" }>): boolean {
  if (state.needsPerson === true || state.error.code === "outcome_unknown") return true;
  return state.correction?.accepted === false;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
