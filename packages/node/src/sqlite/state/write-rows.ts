import type { StatementSync } from "node:sqlite";
import { afterPrefix, type CommitRows } from "@ergon/core/store-kit";
import { AFTER_ALL_TEXT } from "../database/keys.ts";
import type { Preparer } from "../database/reader.ts";
import type { KnownSession } from "./session-directory.ts";

/** Everything that a commit may run, prepared once. */
export type WriteStatements = Readonly<Record<keyof typeof SQL, StatementSync>>;

export function createWriteStatements({ prepare }: Preparer): WriteStatements {
  const entries = Object.entries(SQL).map(([name, sql]) => [name, prepare(sql)] as const);
  return Object.fromEntries(entries) as WriteStatements;
}

/** `known`: the session before this commit. `n`: its number, also of a new one; undefined when the commit names none. */
export type RowsPlace = {
  readonly n: number | undefined;
  readonly known: Pick<KnownSession, "version" | "status"> | undefined;
  readonly firstSeq: number;
};

/** Writes a commit into its tables, inside the transaction that is open. */
export function writeRows(statements: WriteStatements, rows: CommitRows, place: RowsPlace): void {
  const { n } = place;
  if (n !== undefined) {
    writeSession(statements, rows, n, place.known);
    writeRuns(statements, rows, n);
    writeJournal(statements, rows, n);
    writeContext(statements, rows, n);
  }
  writeShared(statements, rows);
  const session = n ?? null;
  for (const { at, cause, units, toolId, reference } of rows.energy)
    statements.addEnergy.run(session, rows.owner, at, cause, units, toolId ?? null, reference ?? null);
  let seq = place.firstSeq;
  for (const { type, at, data } of rows.events) statements.addEvent.run(seq++, session, rows.owner, type, at, data);
}

function writeSession(statements: WriteStatements, rows: CommitRows, n: number, known: RowsPlace["known"]): void {
  const { sessionId, owner, session, energy } = rows;
  let units = 0;
  for (const row of energy) units += row.units;
  if (session === undefined) {
    if (energy.length > 0) statements.addSessionEnergy.run(units, energy.length, n);
    return;
  }
  const { status, core, cursor, planHash, input } = session;
  const spent = [units, energy.length] as const;
  if (known === undefined) statements.insertSession.run(n, sessionId, owner, status, ...spent, core, cursor);
  else if (status === known.status) statements.updateSession.run(core, cursor, ...spent, n);
  else statements.updateSessionStatus.run(core, cursor, ...spent, status, n);
  if (planHash !== null || input !== null) statements.putSessionInput.run(n, owner, planHash, input);
}

function writeRuns(statements: WriteStatements, { owner, run, expireRuns }: CommitRows, n: number): void {
  if (run !== undefined) statements.addRun.run(run.id, owner, run.hash, n);
  if (expireRuns !== undefined) statements.expireRuns.run(expireRuns, n);
}

function writeJournal(statements: WriteStatements, { owner, journal }: CommitRows, n: number): void {
  for (const { position, start, end } of journal) {
    const { state = "started", result = null, finishedAt = null, energyUnits = 0 } = end ?? {};
    if (start === undefined) {
      statements.finishJournal.run(state, result, finishedAt, energyUnits, n, position);
      continue;
    }
    const { scope, stepId, toolId, effects, key, argsHash, request, startedAt } = start;
    statements.addJournal.run(
      n,
      position,
      owner,
      scope,
      stepId,
      toolId,
      effects,
      key,
      argsHash,
      request,
      startedAt,
      state,
      result,
      finishedAt,
      energyUnits,
    );
  }
}

function writeContext(statements: WriteStatements, { owner, dropScopes, context }: CommitRows, n: number): void {
  for (const prefix of dropScopes) statements.dropScopes.run(n, prefix, afterPrefix(prefix) ?? AFTER_ALL_TEXT);
  for (const { scope, key, implicit, position, value } of context)
    statements.putContext.run(n, scope, key, owner, implicit ? 1 : 0, position, value);
}

function writeShared(statements: WriteStatements, { owner, plan, blobs, cursor }: CommitRows): void {
  if (plan !== undefined) statements.putPlan.run(plan.hash, owner, plan.plan);
  for (const { id, bytes, mediaType, at } of blobs) statements.addBlob.run(id, owner, bytes, mediaType, at);
  if (cursor !== undefined) statements.moveCursor.run(cursor.name, owner, cursor.seq);
}

const SQL = {
  insertSession: `INSERT INTO sessions (n, id, owner, version, status, energy_units, energy_rows, core, frames)
    VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?)`,
  // An index is rewritten when its column is named, changed or not: the status is named only when it changes.
  updateSession: `UPDATE sessions SET version = version + 1, core = ?, frames = ?,
    energy_units = energy_units + ?, energy_rows = energy_rows + ? WHERE n = ?`,
  updateSessionStatus: `UPDATE sessions SET version = version + 1, core = ?, frames = ?,
    energy_units = energy_units + ?, energy_rows = energy_rows + ?, status = ? WHERE n = ?`,
  addSessionEnergy: "UPDATE sessions SET energy_units = energy_units + ?, energy_rows = energy_rows + ? WHERE n = ?",
  putSessionInput: `INSERT INTO session_inputs (session_n, owner, plan_hash, input) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET plan_hash = coalesce(excluded.plan_hash, plan_hash), input = coalesce(excluded.input, input)`,
  addRun: "INSERT INTO runs (id, owner, hash, session_n) VALUES (?, ?, ?, ?)",
  expireRuns: "UPDATE runs SET session_n = NULL, ended_at = ? WHERE session_n = ?",
  putPlan: "INSERT INTO plans (hash, owner, plan) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  putContext: `INSERT INTO context (session_n, scope, key, owner, implicit, ord, value) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET owner = excluded.owner, implicit = excluded.implicit, ord = excluded.ord, value = excluded.value`,
  dropScopes: "DELETE FROM context WHERE session_n = ? AND scope > ? AND scope < ?",
  addJournal: `INSERT INTO journal (session_n, ord, owner, scope, step_id, tool_id, effects, key, args_hash, request,
    started_at, state, result, finished_at, energy_units) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  finishJournal: `UPDATE journal SET state = ?, result = ?, finished_at = ?, energy_units = ?
    WHERE session_n = ? AND ord = ?`,
  addEnergy: `INSERT INTO energy (session_n, owner, at, cause, units, tool_id, reference) VALUES (?, ?, ?, ?, ?, ?, ?)`,
  addEvent: "INSERT INTO events (seq, session_n, owner, type, at, data) VALUES (?, ?, ?, ?, ?, ?)",
  addBlob: "INSERT INTO blobs (id, owner, bytes, media_type, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
  moveCursor: `INSERT INTO cursors (name, owner, seq) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET owner = excluded.owner, seq = excluded.seq`,
} as const;
