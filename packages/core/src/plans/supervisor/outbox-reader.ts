/*
 * Reads the outbox for sessions that somebody must see to, behind a durable cursor.
 *
 * O1  Every wanted event is attended to at least once, also across restarts; attending must be idempotent.
 * O2  The cursor never passes an event whose session has not been attended to.
 * O3  A session is attended to by one at a time, and once for all of its events that have come meanwhile.
 * O4  Memory is bounded: what there is no room for stays in the outbox and is read again.
 */
import { toErgonError } from "../../errors/ergon-error.ts";
import type { Clock } from "../../ports/clock.ts";
import type { SessionRef } from "../../ports/engine.ts";
import type { Logger } from "../../ports/logger.ts";
import { type CommitNews, MAX_PAGE_ROWS, type StateStore } from "../../ports/state-store.ts";
import type { EventType, StoredEvent } from "../../schema/event.ts";

/** Sessions that wait to be attended to. */
export const MAX_WAITING = 10_000;
/** Sessions attended to at once. */
export const MAX_ATTENDED = 8;
/** So many events that nobody wants are read again after a crash at most. */
export const CURSOR_STRIDE = 10_000;
const MAX_TRIES = 6;
const FIRST_TRY_AGAIN_MS = 250;
const READ_AGAIN_MS = 1_000;

export type OutboxReader = {
  /** With `catchUp`, from where the last process was; else only what happens from now on, and the cursor stays. */
  readonly start: (options: { readonly catchUp: boolean }) => void;
  /** Takes nothing new, and resolves when what was begun has ended. */
  readonly stop: () => Promise<void>;
};

export type OutboxReaderParts = {
  readonly name: string;
  readonly store: Pick<StateStore, "commit" | "readCursor" | "readEvents" | "lastEventSeq" | "watch">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly type: EventType;
  /** Of the events of this type. */
  readonly wants: (event: StoredEvent) => boolean;
  readonly attend: (session: SessionRef, signal: AbortSignal) => Promise<void>;
  readonly maxWaiting?: number;
};

type Waiting = SessionRef & { readonly seq: number; readonly tries: number };

export function createOutboxReader(parts: OutboxReaderParts): OutboxReader {
  const { name, store, clock, logger, type, wants, attend, maxWaiting = MAX_WAITING } = parts;
  const isWanted = (event: StoredEvent): boolean => event.type === type && wants(event);
  const stopping = new AbortController();
  const waiting = new Map<string, Waiting>();
  const attended = new Map<string, Waiting>();
  const later = new Map<string, { readonly stop: () => void; readonly what: Waiting }>();
  const under = new Set<Promise<void>>();
  let unwatch = (): void => undefined;
  let seenSeq = 0;
  let savedSeq = 0;
  /** Events behind this one are still to be read. */
  let missedFrom: number | undefined;
  /** Behind this one there was an event that there was no room for. */
  let droppedFrom: number | undefined;
  let stopReadAgain = (): void => undefined;
  let stuckSeq = Infinity;
  let keepsCursor = false;
  let isReading = false;

  return {
    start: ({ catchUp }) => {
      keepsCursor = catchUp;
      if (catchUp) missedFrom = 0;
      unwatch = store.watch(see);
      if (catchUp) run(openCursor());
    },
    stop: async () => {
      unwatch();
      stopping.abort();
      stopReadAgain();
      for (const { stop } of later.values()) stop();
      await Promise.allSettled(under);
      await save();
    },
  };

  /** Must be quick: it is called with every transaction. */
  function see(news: readonly CommitNews[]): void {
    for (const { types, lastSeq, events } of news) {
      if (types.includes(type)) {
        for (const event of events()) if (isWanted(event) && !put(event)) droppedFrom ??= event.seq - 1;
      }
      seenSeq = lastSeq;
    }
    pump();
    if (seenSeq - savedSeq >= CURSOR_STRIDE && isIdle()) run(save());
  }

  function put({ owner, sessionId, seq }: StoredEvent): boolean {
    if (sessionId === undefined) return true;
    const known = waiting.get(sessionId);
    if (known === undefined && waiting.size >= maxWaiting) return false;
    waiting.set(sessionId, { owner, sessionId, seq: known?.seq ?? seq, tries: 0 });
    return true;
  }

  function pump(): void {
    if (stopping.signal.aborted) return;
    for (const [sessionId, what] of waiting) {
      if (attended.size >= MAX_ATTENDED) return;
      if (attended.has(sessionId)) continue;
      waiting.delete(sessionId);
      attended.set(sessionId, what);
      run(attendTo(what));
    }
    const isBehind = missedFrom !== undefined || droppedFrom !== undefined;
    if (isBehind && waiting.size === 0 && !isReading) run(readMissed());
  }

  async function attendTo(what: Waiting): Promise<void> {
    const { owner, sessionId } = what;
    try {
      await attend({ owner, sessionId }, stopping.signal);
    } catch (thrown) {
      tryAgainLater(what, thrown);
    } finally {
      attended.delete(sessionId);
    }
    pump();
    if (isIdle()) await save();
  }

  function tryAgainLater(what: Waiting, thrown: unknown): void {
    const { sessionId, tries, seq } = what;
    const isLast = tries + 1 >= MAX_TRIES;
    // A stop interrupts; the next start reads the event again.
    if (stopping.signal.aborted || isLast) stuckSeq = Math.min(stuckSeq, seq);
    if (stopping.signal.aborted) return;
    const error = toErgonError(thrown, "attend_failed").toJSON();
    logger.error({ sessionId, error, tries: tries + 1 }, "A session could not be attended to.");
    if (isLast) return;
    const again = { ...what, tries: tries + 1 };
    const wake = (): void => {
      later.delete(sessionId);
      if (!waiting.has(sessionId)) waiting.set(sessionId, again);
      pump();
    };
    later.get(sessionId)?.stop();
    later.set(sessionId, { what: again, stop: clock.after(FIRST_TRY_AGAIN_MS * 2 ** tries, wake) });
  }

  async function openCursor(): Promise<void> {
    isReading = true;
    try {
      savedSeq = await store.readCursor(name);
      missedFrom = savedSeq;
    } finally {
      isReading = false;
    }
    pump();
  }

  /** Page by page, no further than there is room; the rest is read when there is room again. */
  async function readMissed(): Promise<void> {
    isReading = true;
    stopReadAgain();
    try {
      for (let isFull = false; !isFull && !stopping.signal.aborted;) {
        missedFrom ??= takeDropped();
        if (missedFrom === undefined) break;
        const events = await store.readEvents({ afterSeq: missedFrom, limit: MAX_PAGE_ROWS });
        const refused = events.find((event) => isWanted(event) && !put(event));
        isFull = refused !== undefined;
        const last = events.at(-1)?.seq ?? missedFrom;
        seenSeq = Math.max(seenSeq, last);
        missedFrom = refused === undefined ? last : refused.seq - 1;
        if (refused === undefined && events.length < MAX_PAGE_ROWS) missedFrom = undefined;
        pump();
      }
    } catch (thrown) {
      const error = toErgonError(thrown, "store_unavailable").toJSON();
      logger.error({ error, retryInMs: READ_AGAIN_MS }, "The outbox could not be read; trying again.");
      stopReadAgain = clock.after(READ_AGAIN_MS, pump);
      return;
    } finally {
      isReading = false;
    }
    pump();
    if (isIdle()) await save();
  }

  function takeDropped(): number | undefined {
    const from = droppedFrom;
    droppedFrom = undefined;
    return from;
  }

  function isIdle(): boolean {
    const isUpToDate = missedFrom === undefined && droppedFrom === undefined;
    return isUpToDate && waiting.size === 0 && attended.size === 0 && later.size === 0;
  }

  /** Everything up to here has been attended to (O2). */
  function safeSeq(): number {
    let safe = Math.min(seenSeq, missedFrom ?? Infinity, droppedFrom ?? Infinity, stuckSeq - 1);
    for (const { seq } of waiting.values()) safe = Math.min(safe, seq - 1);
    for (const { seq } of attended.values()) safe = Math.min(safe, seq - 1);
    for (const { what } of later.values()) safe = Math.min(safe, what.seq - 1);
    return safe;
  }

  async function save(): Promise<void> {
    const seq = safeSeq();
    if (!keepsCursor || seq <= savedSeq) return;
    const before = savedSeq;
    savedSeq = seq;
    try {
      await store.commit({ sessionId: "", owner: name, cursor: { name, seq } });
    } catch (thrown) {
      savedSeq = before;
      logger.warn({ error: toErgonError(thrown, "store_unavailable").toJSON() }, "The cursor could not be moved.");
    }
  }

  function run(work: Promise<void>): void {
    const done = work
      .catch((thrown: unknown) => {
        logger.error({ error: toErgonError(thrown, "outbox_unread").toJSON() }, "The outbox could not be read.");
      })
      .finally(() => under.delete(done));
    under.add(done);
  }
}
