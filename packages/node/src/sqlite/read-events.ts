import { setImmediate } from "node:timers/promises";
import { checkWhole, type EventQuery, type NewEvent, pageLimit, storedEvent, type StoredEvent } from "@ergon/core";
import type { EventsEntry } from "./fold-events.ts";
import type { Reader } from "./reader.ts";
import type { Tail } from "./tail.ts";

/** Rows of the table that are opened in one go; then others get their turn. */
export const ROWS_PER_TURN = 32;

/** From the tables what they have, then from the tail. Nothing can move from one to the other in between. */
export async function readEvents(
  reader: Reader,
  tail: () => Tail,
  sessionN: number | undefined,
  query: EventQuery,
): Promise<StoredEvent[]> {
  const limit = pageLimit(query.limit);
  const find = createFinder(reader, sessionN, query);
  for (;;) {
    const more = find.nextRows();
    if (find.found.length >= limit) return find.found.slice(0, limit);
    if (!more) break;
    await setImmediate();
  }
  find.inTail(tail());
  return find.found.slice(0, limit);
}

type Finder = {
  readonly found: StoredEvent[];
  /** False when the tables have no more. */
  readonly nextRows: () => boolean;
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

  function rowsAfter(seq: number): readonly EventColumns[] {
    const ofOwner = owner === undefined ? "" : " AND (e.owner = ? OR e.owner IS NULL)";
    const values = owner === undefined ? [ROWS_PER_TURN] : [owner, ROWS_PER_TURN];
    if (sessionId === undefined) {
      const sql = `SELECT e.seq, e.count, e.entries FROM events e WHERE e.seq > ?${ofOwner} ORDER BY e.seq LIMIT ? + 0`;
      return all<EventColumns>(sql, seq, ...values);
    }
    if (sessionN === undefined) return [];
    return all<EventColumns>(
      `SELECT e.seq, e.count, e.entries FROM session_events s CROSS JOIN events e ON e.seq = s.seq
        WHERE s.session_n = ? AND s.seq > ?${ofOwner} ORDER BY s.seq LIMIT ? + 0`,
      sessionN,
      seq,
      ...values,
    );
  }

  return {
    found,
    nextRows: () => {
      const rows = rowsAfter(from);
      for (const row of rows) {
        let seq = row.seq - row.count;
        for (const [n, whose, events] of JSON.parse(row.entries) as EventsEntry[]) {
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
          keep(JSON.parse(text) as NewEvent[], seq - count, whose, () => session?.id ?? "");
      }
    },
  };
}

type EventColumns = { readonly seq: number; readonly count: number; readonly entries: string };
