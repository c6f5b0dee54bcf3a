import { setImmediate } from "node:timers/promises";
import {
  type EnergyTotals,
  type EventQuery,
  type JsonObject,
  checkWhole,
  pageLimit,
  type StoredEvent,
} from "@ergon/core";
import { SPAN_EVENTS, spanOf } from "./keys.ts";
import type { Reader } from "./reader.ts";

/** Rows looked at in one go where no index helps; then others get their turn. */
export const SCAN_ROWS = 20_000;

export async function readEvents(
  reader: Reader,
  lastSeq: number,
  n: number | undefined,
  query: EventQuery,
): Promise<StoredEvent[]> {
  const afterSeq = checkWhole("afterSeq", query.afterSeq);
  const limit = pageLimit(query.limit);
  const { owner } = query;
  if (query.sessionId !== undefined) return n === undefined ? [] : sessionEvents(reader, { n, afterSeq, limit, owner });
  const found: StoredEvent[] = [];
  for (let from = afterSeq; from < lastSeq && found.length < limit; from += SCAN_ROWS) {
    if (from > afterSeq) await setImmediate();
    const rows = reader.all<EventColumns>(
      `${SELECT_EVENT} WHERE e.seq > ? AND e.seq <= ?${owner === undefined ? "" : " AND e.owner = ?"} ORDER BY e.seq LIMIT ? + 0`,
      from,
      from + SCAN_ROWS,
      ...(owner === undefined ? [] : [owner]),
      limit - found.length,
    );
    found.push(...rows.map(storedEvent));
  }
  return found;
}

type SessionEvents = {
  readonly n: number;
  readonly afterSeq: number;
  readonly limit: number;
  readonly owner: string | undefined;
};

/** The spans lead to the few runs of numbers in which the session has events. */
function sessionEvents({ all }: Reader, { n, afterSeq, limit, owner }: SessionEvents): StoredEvent[] {
  const rows = all<EventColumns>(
    `SELECT e.seq, e.owner, e.type, e.at, e.data, s.id
      FROM event_spans p CROSS JOIN events e CROSS JOIN sessions s
      WHERE p.session_n = ? AND p.span >= ? AND s.n = p.session_n
        AND e.seq BETWEEN p.span * ${String(SPAN_EVENTS)} AND p.span * ${String(SPAN_EVENTS)} + ${String(SPAN_EVENTS - 1)}
        AND e.seq > ? AND e.session_n = p.session_n${owner === undefined ? "" : " AND e.owner = ?"}
      ORDER BY p.span, e.seq LIMIT ? + 0`,
    n,
    spanOf(afterSeq),
    afterSeq,
    ...(owner === undefined ? [] : [owner]),
    limit,
  );
  return rows.map(storedEvent);
}

/** A session's own sums are kept with it; others are added up, a stretch of the ledger at a time. */
export async function readEnergy(
  { all }: Reader,
  filter: { readonly n?: number; readonly owner?: string },
): Promise<EnergyTotals> {
  const { n, owner } = filter;
  if (n !== undefined && owner === undefined) {
    const [row] = all<EnergyTotals>("SELECT energy_units AS units, energy_rows AS rows FROM sessions WHERE n = ?", n);
    return { units: row?.units ?? 0, rows: row?.rows ?? 0 };
  }
  const [end] = all<{ readonly id: number | null }>("SELECT max(id) AS id FROM energy");
  const conditions = `${n === undefined ? "" : " AND session_n = ?"}${owner === undefined ? "" : " AND owner = ?"}`;
  const values = [...(n === undefined ? [] : [n]), ...(owner === undefined ? [] : [owner])];
  let total: EnergyTotals = { units: 0, rows: 0 };
  for (let from = 0; from < (end?.id ?? 0); from += SCAN_ROWS) {
    if (from > 0) await setImmediate();
    const [part] = all<{ readonly units: number | null; readonly rows: number }>(
      `SELECT sum(units) AS units, count(*) AS rows FROM energy WHERE id > ? AND id <= ?${conditions}`,
      from,
      from + SCAN_ROWS,
      ...values,
    );
    total = { units: total.units + (part?.units ?? 0), rows: total.rows + (part?.rows ?? 0) };
  }
  return total;
}

const SELECT_EVENT =
  "SELECT e.seq, e.owner, e.type, e.at, e.data, s.id FROM events e LEFT JOIN sessions s ON s.n = e.session_n";

type EventColumns = {
  readonly seq: number;
  readonly owner: string;
  readonly type: StoredEvent["type"];
  readonly at: string;
  readonly data: string;
  readonly id: string | null;
};

function storedEvent({ seq, owner, type, at, data, id }: EventColumns): StoredEvent {
  const event = { seq, owner, type, at, data: JSON.parse(data) as JsonObject };
  return id === null ? event : { ...event, sessionId: id };
}
