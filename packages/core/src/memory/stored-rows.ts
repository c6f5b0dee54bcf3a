import type { CommitNews } from "../ports/state-store.ts";
import type { NewEvent, StoredEvent } from "../schema/event.ts";
import type { CommitRows } from "./commit-rows.ts";
import { readEvents } from "./row-text.ts";

/** "" names no session. */
export function storedEvent(event: NewEvent, seq: number, owner: string, sessionId: string): StoredEvent {
  const { type, at, data } = event;
  return sessionId === "" ? { type, at, data, seq, owner } : { type, at, data, seq, owner, sessionId };
}

/** What to tell of commits that a store has taken, whose events begin behind `lastSeq`. */
export function newsOf(taken: readonly CommitRows[], lastSeq: number): readonly CommitNews[] {
  const news: CommitNews[] = [];
  let before = lastSeq;
  for (const { owner, sessionId, events } of taken) {
    if (events === undefined) continue;
    const first = before + 1;
    before += events.types.length;
    news.push({
      owner,
      sessionId: sessionId === "" ? undefined : sessionId,
      types: events.types,
      lastSeq: before,
      events: () =>
        readEvents(JSON.parse(events.text)).map((event, at) => storedEvent(event, first + at, owner, sessionId)),
    });
  }
  return news;
}
