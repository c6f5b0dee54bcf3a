import type { DatabaseSync } from "node:sqlite";
import { storeError } from "@ergon/core/schema";
import { createWriteStatements, writeRows } from "../state/write-rows.ts";
import { readOldLog } from "./old-log.ts";
import {
  type OldCommit,
  type OldEnergy,
  type OldEvent,
  readEnd,
  readOldCommit,
  readOldEnergy,
  readOldEvents,
  readStart,
  type SpentCall,
} from "./old-rows.ts";

/** Fills the new tables from `old_…` and from the log. Gives how many records of the log had to be discarded. */
export function importState(db: DatabaseSync, path: string, version: number): number {
  for (const [table, columns] of UNCHANGED)
    db.exec(`INSERT INTO ${table} (${columns}) SELECT ${columns} FROM old_${table}`);
  const statements = createWriteStatements({ prepare: (sql) => db.prepare(sql) });
  const selectJournal = db.prepare("SELECT * FROM journal WHERE session_n = ? AND ord = ?");
  importJournal();
  importEnergy();
  importEvents();
  const tail = db
    .prepare("SELECT commits FROM old_tail ORDER BY id")
    .all()
    .map(({ commits }) => String(commits));
  const log = readLog(db, path, version);
  for (const text of [...tail, ...log.records]) for (const commit of commitsIn(text)) apply(commit);
  return log.loose.filter((text) => commitsIn(text).some(isMissing)).length;

  function importJournal(): void {
    const rows =
      db.prepare(`SELECT j.id, j.session_n, s.id AS sessionId, j.ord AS position, j.owner, j.step_id AS stepId, j.intent,
      j.outcome FROM old_journal j JOIN sessions s ON s.n = j.session_n ORDER BY j.id`);
    for (const row of rows.iterate() as Iterable<OldJournalColumns>) {
      const start = readStart(row, JSON.parse(row.intent) as Parameters<typeof readStart>[1]);
      const end =
        row.outcome === null
          ? undefined
          : readEnd(JSON.parse(row.outcome) as Parameters<typeof readEnd>[0], start.startedAt);
      statements.addJournal.run(
        row.session_n,
        row.position,
        row.owner,
        start.scope,
        start.stepId,
        start.toolId,
        start.effects,
        start.key,
        start.argsHash,
        start.request,
        start.startedAt,
        end?.state ?? "started",
        end?.result ?? null,
        end?.finishedAt ?? null,
        end?.energyUnits ?? 0,
      );
    }
  }

  function importEnergy(): void {
    const rows = db.prepare(`SELECT e.session_n AS n, s.id AS sessionId, e.owner, e.entries FROM old_energy e
      LEFT JOIN sessions s ON s.n = e.session_n ORDER BY e.id`);
    for (const { n, sessionId, owner, entries } of rows.iterate() as Iterable<OldEntriesColumns>) {
      const written = JSON.parse(entries) as OldEnergy[];
      for (const row of readOldEnergy(written, sessionId ?? "", (position) => callAt(n ?? 0, position)))
        statements.addEnergy.run(n, owner, row.at, row.cause, row.units, row.toolId ?? null, row.reference ?? null);
    }
  }

  function importEvents(): void {
    const rows = db.prepare("SELECT seq, count, entries FROM old_events ORDER BY seq");
    for (const row of rows.iterate() as Iterable<{ seq: number; count: number; entries: string }>) {
      let seq = row.seq - row.count;
      for (const [n, owner, written] of JSON.parse(row.entries) as [number, string, OldEvent[]][])
        for (const { type, at, data } of readOldEvents(written))
          statements.addEvent.run(++seq, n === 0 ? null : n, owner, type, at, data);
    }
  }

  function apply(written: OldCommit): void {
    const known = sessionOf(written.sessionId);
    const n = known?.n ?? (written.sessionId === "" ? undefined : highest("SELECT max(n) AS n FROM sessions") + 1);
    const rows = readOldCommit(written, {
      startedAt: (position) => String(journalAt(known?.n ?? 0, position)["started_at"]),
      callAt: (position) => callAt(known?.n ?? 0, position),
    });
    writeRows(statements, rows, { n, known, firstSeq: highest("SELECT max(seq) AS n FROM events") + 1 });
  }

  function sessionOf(
    id: string,
  ): { readonly n: number; readonly version: number; readonly status: string } | undefined {
    return db.prepare("SELECT n, version, status FROM sessions WHERE id = ?").get(id) as ReturnType<typeof sessionOf>;
  }

  /** Whether the tables lack something of this commit. */
  function isMissing({ sessionId, journal = [] }: OldCommit): boolean {
    if (sessionId === "") return false;
    const session = sessionOf(sessionId);
    return session === undefined || journal.some(([position]) => selectJournal.get(session.n, position) === undefined);
  }

  function highest(sql: string): number {
    return Number(db.prepare(sql).get()?.["n"] ?? 0);
  }

  function journalAt(n: number, position: string): Record<string, unknown> {
    const row = selectJournal.get(n, position);
    if (row === undefined)
      throw storeError("store_corrupt", `${path} has no journal row at ${position}, which the log refers to.`);
    return row;
  }

  function callAt(n: number, position: string): SpentCall {
    const row = journalAt(n, position);
    const { tool_id: toolId, energy_units: units, finished_at: finished, started_at: started } = row;
    return { toolId: String(toolId), units: Number(units), at: String(finished ?? started) };
  }
}

const UNCHANGED = [
  ["sessions", "n, id, owner, version, status, energy_units, energy_rows, core, frames"],
  ["session_inputs", "session_n, owner, plan_hash, input"],
  ["plans", "hash, owner, plan"],
  ["context", "session_n, scope, key, owner, implicit, ord, value"],
  ["blobs", "id, owner, bytes, media_type, at"],
  ["cursors", "name, owner, seq"],
] as const;

type OldJournalColumns = {
  readonly session_n: number;
  readonly sessionId: string;
  readonly position: string;
  readonly owner: string;
  readonly stepId: string | null;
  readonly intent: string;
  readonly outcome: string | null;
};
type OldEntriesColumns = {
  readonly n: number | null;
  readonly sessionId: string | null;
  readonly owner: string;
  readonly entries: string;
};

function commitsIn(text: string): OldCommit[] {
  return JSON.parse(text) as OldCommit[];
}

function readLog(db: DatabaseSync, path: string, version: number): ReturnType<typeof readOldLog> {
  if (version < 2) return { records: [], loose: [] };
  const found = db.prepare("SELECT store_id, folded FROM old_log").get();
  if (!(found?.["store_id"] instanceof Uint8Array))
    throw storeError("store_corrupt", `${path} does not say which log it has.`);
  return readOldLog(path, found["store_id"], Number(found["folded"]));
}
