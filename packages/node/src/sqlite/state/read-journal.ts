import {
  checkWhole,
  type JournalEndText,
  type JournalQuery,
  type JournalRow,
  journalRow,
  type JournalStartText,
  type PositionRange,
  pageLimit,
} from "@ergon/core/store-kit";
import { AFTER_ALL_TEXT } from "../database/keys.ts";
import type { Reader } from "../database/reader.ts";

/** Walks the ranges in reading order, each by its index, until the page is full. */
export function readJournal({ all }: Reader, n: number, query: JournalQuery): JournalRow[] {
  const { stepId, order, settledOnly } = query;
  const rows: JournalRow[] = [];
  const limit = pageLimit(query.limit);
  let skip = checkWhole("offset", query.offset ?? 0);
  const filter = `FROM journal WHERE session_n = ?${stepId === undefined ? "" : " AND step_id = ?"} AND ord >= ? AND ord < ?${settledOnly === true ? " AND state <> 'started'" : ""}`;
  const select = `SELECT ${COLUMNS} ${filter} ORDER BY ord ${order === "newest" ? "DESC" : "ASC"} LIMIT ? + 0 OFFSET ? + 0`;
  for (const { from, to } of inOrder(query)) {
    const key = stepId === undefined ? [n, from, to] : [n, stepId, from, to];
    const found = all<JournalColumns>(select, ...key, limit - rows.length, skip);
    for (const row of found) rows.push(rowOf(row));
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

export function readJournalRow({ all }: Reader, n: number, position: string): JournalRow | undefined {
  const [row] = all<JournalColumns>(`SELECT ${COLUMNS} FROM journal WHERE session_n = ? AND ord = ?`, n, position);
  return row === undefined ? undefined : rowOf(row);
}

function inOrder({ ranges, order }: JournalQuery): readonly (PositionRange | typeof EVERYTHING)[] {
  if (ranges === undefined) return [EVERYTHING];
  return order === "newest" ? ranges.toReversed() : ranges;
}

const EVERYTHING = { from: "", to: AFTER_ALL_TEXT };

const COLUMNS = `ord AS position, scope, step_id AS stepId, tool_id AS toolId, effects, key, args_hash AS argsHash, request,
  started_at AS startedAt, state, result, finished_at AS finishedAt, energy_units AS energyUnits`;

type JournalColumns = JournalStartText &
  Pick<JournalEndText, "energyUnits"> & {
    readonly position: string;
    readonly state: JournalRow["state"];
    readonly result: string | null;
    readonly finishedAt: string | null;
  };

function rowOf(row: JournalColumns): JournalRow {
  const { position, state, result, finishedAt, energyUnits } = row;
  if (state === "started" || result === null || finishedAt === null) return journalRow(position, row, undefined);
  return journalRow(position, row, { state, result, finishedAt, energyUnits });
}
