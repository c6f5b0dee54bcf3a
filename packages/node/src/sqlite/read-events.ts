import { setImmediate } from "node:timers/promises";
import {
  checkWhole,
  type EventQuery,
  type NewEvent,
  pageLimit,
  readEvents as eventsIn,
  storedEvent,
  type StoredEvent,
} from "@ergon/core";
import type { EventsEntry } from "./fold-events.ts";
import type { Reader } from "./reader.ts";
import type { Tail, TailWriter } from "./tail.ts";

/** Rows of the table that are opened in one go; then others get their turn. */
export const ROWS_PER_TURN = 32;

/**
 * From the tables what they have, then from the tail. Nothing can move from one to the other in between; what is away may
 * be in both, and is taken from the tail.
 */
export async function readEvents(
  reader: Reader,
  tail: () => Pick<TailWriter, "now" | "away">,
  sessionN: number | undefined,
  query: EventQuery,
): Promise<StoredEvent[]> {
  const limit = pageLimit(query.limit);
  const find = createFinder(reader, sessionN, query);
  for (;;) {
    const tails = [tail().away(), tail().now()].filter((part) => part !== undefined);
    const more = find.nextRows(Math.min(...tails.map(({ firstSeq }) => firstSeq)));
    if (find.found.length >= limit) return find.found.slice(0, limit);
    if (!more) {
      for (const part of tails) find.inTail(part);
      return find.found.slice(0, limit);
    }
    await setImmediate();
  }
}

type Finder = {
  readonly found: StoredEvent[];
  /** False when the tables have no more before `end`. */
  readonly nextRows: (end: number) => boolean;
  readonly inTail: (tail: Tail) => void;
};

function createFinder(
  { all }: Reader,
  sessionN: number | undefined,
  { afterSeq, owner, sessionId }: EventQuery,
): Finder {
  const found: StoredEvent[] = [];
  const ids = new Map<number, string>();
  const after = checkWhole("afterSeq", afterSeq);
  let from = after;
  const isAsked = (whose: string): boolean => owner === undefined || whose === owner;

  function idOf(n: number): string {
    if (n === 0) return "";
    let id = n === sessionN ? sessionId : ids.get(n);
    if (id === undefined) {
      id = all<{ readonly id: string }>("SELECT id FROM sessions WHERE n = ?", n)[0]?.id ?? "";
      ids.set(n, id);
    }
    return id;
  }

  function keep(events: readonly NewEvent[], before: number, whose: string, id: () => string): void {
    for (const [at, event] of events.entries()) {
      const seq = before + at + 1;
      if (seq > after) found.push(storedEvent(event, seq, whose, id()));
    }
  }

  function rowsAfter(seq: number, end: number): readonly EventColumns[] {
    const ofOwner = owner === undefined ? "" : " AND (e.owner = ? OR e.owner IS NULL)";
    const values = owner === undefined ? [end, ROWS_PER_TURN] : [end, owner, ROWS_PER_TURN];
    if (sessionId === undefined) {
      const sql = `SELECT e.seq, e.count, e.entries FROM events e WHERE e.seq > ? AND e.seq < ?${ofOwner} ORDER BY e.seq LIMIT ? + 0`;
      return all<EventColumns>(sql, seq, ...values);
    }
    if (sessionN === undefined) return [];
    return all<EventColumns>(
      `SELECT e.seq, e.count, e.entries FROM session_events s CROSS JOIN events e ON e.seq = s.seq
        WHERE s.session_n = ? AND s.seq > ? AND s.seq < ?${ofOwner} ORDER BY s.seq LIMIT ? + 0`,
      sessionN,
      seq,
      ...values,
    );
  }

  return {
    found,
    nextRows: (end) => {
      const rows = rowsAfter(from, end);
      for (const row of rows) {
        let seq = row.seq - row.count;
        for (const [n, whose, written] of JSON.parse(row.entries) as EventsEntry[]) {
          const events = eventsIn(written);
          if (isAsked(whose) && (sessionId === undefined || n === sessionN)) keep(events, seq, whose, () => idOf(n));
          seq += events.length;
        }
        from = row.seq;
      }
      return rows.length === ROWS_PER_TURN;
    },
    inTail: ({ events }) => {
      for (const { seq, count, owner: whose, session, text } of events) {
        if (seq > after && isAsked(whose) && (sessionId === undefined || session?.id === sessionId))
          keep(eventsIn(JSON.parse(text)), seq - count, whose, () => session?.id ?? "");
      }
    },
  };
}

type EventColumns = { readonly seq: number; readonly count: number; readonly entries: string };
