import type { CommitNews, JournalRow } from "../ports/state-store.ts";
import type { StoredEvent } from "../schema/event.ts";
import type { Json, JsonObject } from "../schema/values/json.ts";
import type { StepResult } from "../schema/session.ts";
import type { CommitRows, EventText, JournalEndText, JournalStartText } from "./commit-rows.ts";

/** "" names no session. */
export function storedEvent(event: EventText, seq: number, owner: string, sessionId: string): StoredEvent {
  const { type, at } = event;
  const data = JSON.parse(event.data) as JsonObject;
  return sessionId === "" ? { type, at, data, seq, owner } : { type, at, data, seq, owner, sessionId };
}

export function journalRow(position: string, start: JournalStartText, end: JournalEndText | undefined): JournalRow {
  const { scope, stepId, toolId, effects, key, argsHash, startedAt } = start;
  const request = JSON.parse(start.request) as Json;
  const step = stepId === null ? {} : { stepId };
  const begun = { position, scope, ...step, toolId, effects, key, argsHash, request, startedAt };
  if (end === undefined) return { ...begun, state: "started", energyUnits: 0 };
  const { state, finishedAt, energyUnits } = end;
  return { ...begun, state, result: JSON.parse(end.result) as StepResult, finishedAt, energyUnits };
}

/** What to tell of commits that a store has taken, whose events begin behind `lastSeq`. */
export function newsOf(taken: readonly CommitRows[], lastSeq: number): readonly CommitNews[] {
  const news: CommitNews[] = [];
  let before = lastSeq;
  for (const { owner, sessionId, events } of taken) {
    if (events.length === 0) continue;
    const first = before + 1;
    before += events.length;
    news.push({
      owner,
      sessionId: sessionId === "" ? undefined : sessionId,
      types: events.map(({ type }) => type),
      lastSeq: before,
      events: () => events.map((event, at) => storedEvent(event, first + at, owner, sessionId)),
    });
  }
  return news;
}
