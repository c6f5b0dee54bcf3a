import type { SessionCore, SessionStatus, StoredEvent } from "@ergon/core";
import type { EventType } from "@ergon/core/schema";
import type { Engine, SessionRef } from "@ergon/core/engine";

/** The events of a run that settled come within this time. */
const CATCH_UP_MS = 1_000;

/** The event with which a session enters a status; the others are kinds of pauses. */
const LAST_EVENT: Readonly<Partial<Record<SessionStatus, EventType>>> = {
  completed: "session-completed",
  failed: "session-failed",
  cancelled: "session-cancelled",
};

export type EventChoice = { readonly after: number; readonly types: readonly EventType[] | undefined };

/** Ends when the run has settled and its events up to then were given, or when the signal aborts. */
export async function* eventsUntilSettled(
  engine: Engine,
  ref: SessionRef,
  { after, types, signal }: EventChoice & { readonly signal: AbortSignal },
): AsyncGenerator<StoredEvent, void> {
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  const following = AbortSignal.any([signal, stopping.signal]);
  let given: StoredEvent | undefined;
  let end: SessionCore | undefined;
  let catchUp: NodeJS.Timeout | undefined;
  const settling = engine.settled({ ...ref, signal: following }).then((core) => {
    end = core;
    if (given !== undefined && isLast(given, core)) stop();
    else if (!following.aborted) catchUp = setTimeout(stop, CATCH_UP_MS);
  });
  // It is thrown below, when the events end with it.
  settling.catch(stop);
  try {
    for await (const event of engine.follow({ ...ref, afterSeq: after, signal: following })) {
      given = event;
      if (types === undefined || types.includes(event.type)) yield event;
      if (end !== undefined && isLast(event, end)) return;
    }
    await settling;
  } finally {
    stop();
    clearTimeout(catchUp);
  }
}

function isLast({ type, at }: StoredEvent, { status, updatedAt, currentPlanId }: SessionCore): boolean {
  if (status === "running") return false;
  const last = LAST_EVENT[status] ?? (currentPlanId === undefined ? "session-created" : "session-paused");
  return type === last && at >= updatedAt;
}
