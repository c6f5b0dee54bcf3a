import { setImmediate } from "node:timers/promises";
import type { StoredEvent } from "@ergon/core";
import { checkWhole, type EventQuery, type EventText, pageLimit, storedEvent } from "@ergon/core/store-kit";
import type { Reader } from "../database/reader.ts";

/** Event numbers that are looked at in one go; then other work gets its turn. */
export const SEQS_PER_TURN = 2_000;

/** All events in the order of their numbers. Those of a session are found by its index, others by a walk. */
export async function readEvents(
  reader: Reader,
  sessionN: number | undefined,
  query: EventQuery & { readonly lastSeq: number },
): Promise<StoredEvent[]> {
  const limit = pageLimit(query.limit);
  const { owner, lastSeq } = query;
  const found: StoredEvent[] = [];
  const step = sessionN === undefined ? SEQS_PER_TURN : Number.MAX_SAFE_INTEGER;
  for (let from = checkWhole("afterSeq", query.afterSeq); from < lastSeq && found.length < limit; from += step) {
    const to = Math.min(from + step, lastSeq);
    const rows = reader.all<EventColumns>(
      sqlFor(sessionN, owner),
      ...valuesFor(sessionN, owner, from, to),
      limit - found.length,
    );
    for (const row of rows) found.push(storedEvent(row, row.seq, row.owner, row.sessionId ?? ""));
    if (to < lastSeq && found.length < limit) await setImmediate();
  }
  return found;
}

function sqlFor(sessionN: number | undefined, owner: string | undefined): string {
  return `SELECT e.seq, e.owner, e.type, e.at, e.data, s.id AS sessionId FROM events e LEFT JOIN sessions s ON s.n = e.session_n
    WHERE ${sessionN === undefined ? "" : "e.session_n = ? AND "}e.seq > ? AND e.seq <= ?${owner === undefined ? "" : " AND e.owner = ?"}
    ORDER BY e.seq LIMIT ? + 0`;
}

function valuesFor(sessionN: number | undefined, owner: string | undefined, from: number, to: number) {
  return [...(sessionN === undefined ? [] : [sessionN]), from, to, ...(owner === undefined ? [] : [owner])];
}

type EventColumns = EventText & { readonly seq: number; readonly owner: string; readonly sessionId: string | null };
