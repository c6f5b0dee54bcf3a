import type { DatabaseSync, StatementSync } from "node:sqlite";

/** Everything that a commit may run, prepared once. */
export type WriteStatements = Readonly<Record<keyof typeof SQL, StatementSync>>;

export function createWriteStatements(db: DatabaseSync): WriteStatements {
  const entries = Object.entries(SQL).map(([name, sql]) => [name, db.prepare(sql)] as const);
  return Object.fromEntries(entries) as WriteStatements;
}

const SQL = {
  begin: "BEGIN IMMEDIATE",
  commit: "COMMIT",
  insertSession: `INSERT INTO sessions (id, owner, version, status, energy_units, energy_rows, core, frames)
    VALUES (?, ?, 1, ?, ?, ?, ?, ?)`,
  // An index is rewritten when its column is named, changed or not: the status is named only when it changes.
  updateSession: `UPDATE sessions SET version = version + 1, core = ?, frames = ?,
    energy_units = energy_units + ?, energy_rows = energy_rows + ? WHERE n = ? AND version = ?`,
  updateSessionStatus: `UPDATE sessions SET version = version + 1, core = ?, frames = ?,
    energy_units = energy_units + ?, energy_rows = energy_rows + ?, status = ? WHERE n = ? AND version = ?`,
  addSessionEnergy: "UPDATE sessions SET energy_units = energy_units + ?, energy_rows = energy_rows + ? WHERE n = ?",
  putSessionInput: `INSERT INTO session_inputs (session_n, owner, plan_hash, input) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET plan_hash = coalesce(excluded.plan_hash, plan_hash), input = coalesce(excluded.input, input)`,
  putPlan: "INSERT INTO plans (hash, owner, plan) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  putContext: `INSERT INTO context (session_n, scope, key, owner, implicit, ord, value) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET owner = excluded.owner, implicit = excluded.implicit, ord = excluded.ord, value = excluded.value`,
  dropScopes: "DELETE FROM context WHERE session_n = ? AND scope > ? AND scope < ?",
  startJournal: `INSERT INTO journal
    (session_n, ord, scope, step_id, owner, tool_id, effects, key, args_hash, state, energy_units, started_at, finished_at, request, result)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  finishJournal: `UPDATE journal SET state = ?, energy_units = ?, finished_at = ?, result = ?
    WHERE session_n = ? AND ord = ? AND state = 'started'`,
  journalState: "SELECT state FROM journal WHERE session_n = ? AND ord = ?",
  addEnergy: "INSERT INTO energy (session_n, owner, at, cause, units, tool_id, reference) VALUES (?, ?, ?, ?, ?, ?, ?)",
  addEvent: "INSERT INTO events (seq, session_n, owner, type, at, data) VALUES (?, ?, ?, ?, ?, ?)",
  addSpan: "INSERT INTO event_spans (session_n, span) VALUES (?, ?) ON CONFLICT DO NOTHING",
  addBlob: "INSERT INTO blobs (id, owner, bytes, media_type, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
  moveCursor: `INSERT INTO cursors (name, owner, seq) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET owner = excluded.owner, seq = excluded.seq`,
} as const;
