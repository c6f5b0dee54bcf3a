import type { JournalRow, SessionRecord, StateStore } from "../../../ports/state-store.ts";
import type { OpenCall } from "../../../schema/session.ts";
import { cursorOf, type StepState } from "../../cursor.ts";
import { openVisits } from "../../visits.ts";

/** More than these are not shown: a view of a session stays small. */
export const MAX_OPEN_CALLS = 100;

/** The calls that a session's open visits have begun and have no result of. */
export async function readOpenCalls(
  store: Pick<StateStore, "readJournal">,
  record: SessionRecord,
): Promise<readonly OpenCall[]> {
  const { sessionId, lastError } = record.core;
  const cursor = cursorOf(record);
  if (cursor === null) {
    // Ergon 0.1 recorded single calls without a cursor.
    if (lastError?.code !== "outcome_unknown") return [];
    return openIn(await store.readJournal({ sessionId, order: "newest", limit: 1 }), () => "unknown");
  }
  const states = new Map<string, OpenCall["state"]>();
  for (const { position, frame } of openVisits(cursor)) {
    const state = callState(frame.state);
    if (state !== undefined) states.set(position, state);
    if (states.size === MAX_OPEN_CALLS) break;
  }
  if (states.size === 0) return [];
  const ranges = [...states.keys()].sort().map((position) => ({ from: position, to: `${position}\u0000` }));
  const rows = await store.readJournal({ sessionId, ranges, order: "oldest", limit: states.size });
  return openIn(rows, (position) => states.get(position));
}

function openIn(
  rows: readonly JournalRow[],
  stateAt: (position: string) => OpenCall["state"] | undefined,
): readonly OpenCall[] {
  return rows.flatMap(({ position, stepId, toolId, request, effects, key, startedAt, result }) => {
    const state = stateAt(position);
    if (result !== undefined || state === undefined) return [];
    const step = stepId === undefined ? {} : { planStepId: stepId };
    return [{ startedAt, ...step, toolId, request, effects, idempotencyKey: key, state }];
  });
}

function callState(state: StepState): OpenCall["state"] | undefined {
  if (state.kind === "call" || (state.kind === "human" && state.asked !== undefined)) return "running";
  return state.kind === "error" && state.error.code === "outcome_unknown" ? "unknown" : undefined;
}
