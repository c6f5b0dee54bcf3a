import type { DatabaseSync, StatementSync } from "node:sqlite";
import { storeError } from "@ergon/core";

/** Everything that a write may run, prepared once. */
export type WriteStatements = Readonly<Record<keyof typeof SQL, StatementSync>>;

export function createWriteStatements(db: DatabaseSync): WriteStatements {
  const entries = Object.entries(SQL).map(([name, sql]) => [name, db.prepare(sql)] as const);
  return Object.fromEntries(entries) as WriteStatements;
}

/** Some errors make SQLite end the transaction itself. */
export function inTransaction(db: DatabaseSync, { begin, commit }: WriteStatements, work: () => void): void {
  try {
    begin.run();
    work();
    commit.run();
  } catch (thrown) {
    // Without its commit mark in the log, a transaction is void however this ends.
    if (db.isTransaction) db.exec("ROLLBACK");
    throw thrown;
  }
}

/** Inside the transaction that folds. Whoever comes second with the same records is refused: nothing is folded twice. */
export function noteFolded(statements: WriteStatements, after: number, upTo: number): void {
  if (statements.noteFolded.run(upTo, after).changes === 1) return;
  throw storeError("store_unavailable", "Somebody else has put these commits into their tables.", { retryable: true });
}

const SQL = {
  begin: "BEGIN IMMEDIATE",
  commit: "COMMIT",
  noteFolded: "UPDATE log SET folded = ? WHERE folded = ?",
  clearTail: "DELETE FROM tail",
  insertSession: `INSERT INTO sessions (n, id, owner, version, status, energy_units, energy_rows, core, frames)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  // An index is rewritten when its column is named, changed or not: the status is named only when it changes.
  updateSession: `UPDATE sessions SET version = ?, core = ?, frames = ?,
    energy_units = energy_units + ?, energy_rows = energy_rows + ? WHERE n = ?`,
  updateSessionStatus: `UPDATE sessions SET version = ?, core = ?, frames = ?,
    energy_units = energy_units + ?, energy_rows = energy_rows + ?, status = ? WHERE n = ?`,
  addSessionEnergy: "UPDATE sessions SET energy_units = energy_units + ?, energy_rows = energy_rows + ? WHERE n = ?",
  putSessionInput: `INSERT INTO session_inputs (session_n, owner, plan_hash, input) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET plan_hash = coalesce(excluded.plan_hash, plan_hash), input = coalesce(excluded.input, input)`,
  putPlan: "INSERT INTO plans (hash, owner, plan) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  putContext: `INSERT INTO context (session_n, scope, key, owner, implicit, ord, value) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET owner = excluded.owner, implicit = excluded.implicit, ord = excluded.ord, value = excluded.value`,
  dropScopes: "DELETE FROM context WHERE session_n = ? AND scope > ? AND scope < ?",
  addJournal: "INSERT INTO journal (session_n, ord, step_id, owner, intent, outcome) VALUES (?, ?, ?, ?, ?, ?)",
  finishJournal: "UPDATE journal SET outcome = ? WHERE session_n = ? AND ord = ?",
  addEnergy: "INSERT INTO energy (session_n, owner, units, rows, entries) VALUES (?, ?, ?, ?, ?)",
  addEvents: "INSERT INTO events (seq, count, owner, entries) VALUES (?, ?, ?, ?)",
  addSessionEvents: "INSERT INTO session_events (session_n, seq) VALUES (?, ?)",
  addBlob: "INSERT INTO blobs (id, owner, bytes, media_type, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
  moveCursor: `INSERT INTO cursors (name, owner, seq) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET owner = excluded.owner, seq = excluded.seq`,
} as const;
