import { checkWhole, type JournalQuery, type JournalRow, type OrdRange, pageLimit } from "@ergon/core";
import { AFTER_ALL_TEXT } from "./keys.ts";
import type { Reader } from "./reader.ts";

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
    for (const row of found) rows.push(journalRow(row));
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

export function readJournalRow({ all }: Reader, n: number, ord: string): JournalRow | undefined {
  const [row] = all<JournalColumns>(`SELECT ${COLUMNS} FROM journal WHERE session_n = ? AND ord = ?`, n, ord);
  return row === undefined ? undefined : journalRow(row);
}

function inOrder({ ranges, order }: JournalQuery): readonly (OrdRange | typeof EVERYTHING)[] {
  if (ranges === undefined) return [EVERYTHING];
  return order === "newest" ? ranges.toReversed() : ranges;
}

const EVERYTHING = { from: "", to: AFTER_ALL_TEXT };

const COLUMNS =
  "ord, scope, step_id, tool_id, effects, key, args_hash, state, energy_units, started_at, finished_at, request, result";

type JournalColumns = {
  readonly ord: string;
  readonly scope: string;
  readonly step_id: string | null;
  readonly tool_id: string;
  readonly effects: JournalRow["effects"];
  readonly key: string;
  readonly args_hash: string;
  readonly state: JournalRow["state"];
  readonly energy_units: number;
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly request: string;
  readonly result: string | null;
};

function journalRow(row: JournalColumns): JournalRow {
  return {
    ord: row.ord,
    scope: row.scope,
    ...(row.step_id === null ? {} : { stepId: row.step_id }),
    toolId: row.tool_id,
    effects: row.effects,
    key: row.key,
    argsHash: row.args_hash,
    request: JSON.parse(row.request) as JournalRow["request"],
    startedAt: row.started_at,
    state: row.state,
    ...(row.result === null ? {} : { result: JSON.parse(row.result) as NonNullable<JournalRow["result"]> }),
    ...(row.finished_at === null ? {} : { finishedAt: row.finished_at }),
    energyUnits: row.energy_units,
  };
}
