import { checkWhole, journalRow, type JournalQuery, type JournalRow, type OrdRange, pageLimit } from "@ergon/core";
import { AFTER_ALL_TEXT } from "./keys.ts";
import type { Reader } from "./reader.ts";
import type { TailEntry } from "./tail-session.ts";

/** Walks the ranges in reading order, each by its index, until the page is full. */
export function readJournal({ all }: Reader, n: number, query: JournalQuery): JournalRow[] {
  const { stepId, order, settledOnly } = query;
  const rows: JournalRow[] = [];
  const limit = pageLimit(query.limit);
  let skip = checkWhole("offset", query.offset ?? 0);
  const filter = `FROM journal WHERE session_n = ?${stepId === undefined ? "" : " AND step_id = ?"} AND ord >= ? AND ord < ?${settledOnly === true ? " AND outcome IS NOT NULL" : ""}`;
  const select = `SELECT ${COLUMNS} ${filter} ORDER BY ord ${order === "newest" ? "DESC" : "ASC"} LIMIT ? + 0 OFFSET ? + 0`;
  for (const { from, to } of inOrder(query)) {
    const key = stepId === undefined ? [n, from, to] : [n, stepId, from, to];
    const found = all<JournalColumns>(select, ...key, limit - rows.length, skip);
    for (const { ord, step_id: ofStep, intent, outcome } of found)
      rows.push(journalRow({ sessionId: query.sessionId, ord, stepId: ofStep }, intent, outcome));
    if (rows.length >= limit) break;
    // A range that was skipped whole does not say how much of the offset it used up.
    if (skip > 0)
      skip =
        found.length > 0
          ? 0
          : skip - (all<{ rows: number }>(`SELECT count(*) AS rows ${filter}`, ...key)[0]?.rows ?? 0);
  }
  return rows;
}

export function readJournalRow(
  { all }: Reader,
  n: number | undefined,
  { sessionId, ord }: { readonly sessionId: string; readonly ord: string },
  inTail?: TailEntry,
): JournalRow | undefined {
  if (inTail?.intent !== undefined)
    return journalRow({ sessionId, ord, stepId: inTail.stepId }, inTail.intent, inTail.outcome);
  if (n === undefined) return undefined;
  const [row] = all<JournalColumns>(`SELECT ${COLUMNS} FROM journal WHERE session_n = ? AND ord = ?`, n, ord);
  if (row === undefined) return undefined;
  return journalRow({ sessionId, ord, stepId: row.step_id }, row.intent, inTail?.outcome ?? row.outcome);
}

function inOrder({ ranges, order }: JournalQuery): readonly (OrdRange | typeof EVERYTHING)[] {
  if (ranges === undefined) return [EVERYTHING];
  return order === "newest" ? ranges.toReversed() : ranges;
}

const EVERYTHING = { from: "", to: AFTER_ALL_TEXT };

const COLUMNS = "ord, step_id, intent, outcome";

type JournalColumns = {
  readonly ord: string;
  readonly step_id: string | null;
  readonly intent: string;
  readonly outcome: string | null;
};
