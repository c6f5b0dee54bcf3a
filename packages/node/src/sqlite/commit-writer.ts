import type { DatabaseSync } from "node:sqlite";
import { afterPrefix, type CommitReceipt, type CommitRows, type JournalText, refuse } from "@ergon/core";
import { AFTER_ALL_TEXT, spanOf } from "./keys.ts";
import { isDuplicate } from "./sqlite-errors.ts";
import { createSessionDirectory, type KnownSession } from "./session-directory.ts";
import type { WriteStatements } from "./write-statements.ts";

/** Puts one commit into the transaction that is open. */
export type CommitWriter = {
  readonly write: (rows: CommitRows) => CommitReceipt;
  /** Whether the commit at hand has changed the database: one that threw before that needs no rollback. */
  readonly touched: () => boolean;
  readonly lastSeq: () => number;
  /** Forgets what a transaction taught that was rolled back. */
  readonly rewind: (lastSeq: number) => void;
};

export function createCommitWriter(db: DatabaseSync, statements: WriteStatements): CommitWriter {
  const sessions = createSessionDirectory(db);
  let lastSeq = Number(db.prepare("SELECT max(seq) AS seq FROM events").get()?.["seq"] ?? 0);
  let touched = false;

  function write(rows: CommitRows): CommitReceipt {
    touched = false;
    const known = rows.sessionId === "" ? undefined : sessions.find(rows.sessionId);
    const version = known?.version ?? 0;
    if (rows.expectVersion !== undefined && rows.expectVersion !== version) {
      throw refuse.conflict(rows.sessionId, rows.expectVersion, version);
    }
    if (known === undefined && rows.session === undefined && rows.sessionId !== "")
      throw refuse.unknownSession(rows.sessionId);
    const session = known ?? insertSession(rows);
    if (session !== undefined) writeStory(rows, session);
    if (known !== undefined) updateSession(rows, known);
    writeShared(rows, session?.n ?? null);
    for (const event of rows.events) {
      lastSeq += 1;
      statements.addEvent.run(lastSeq, session?.n ?? null, rows.owner, event.type, event.at, event.data);
      if (session !== undefined) noteSpan(session);
    }
    return { version: session?.version ?? 0, lastSeq };
  }

  function insertSession({ session, sessionId, owner, energyUnits, energy }: CommitRows): KnownSession | undefined {
    if (session === undefined) return undefined;
    touched = true;
    const { status, core, frames } = session;
    const { lastInsertRowid } = statements.insertSession.run(
      sessionId,
      owner,
      status,
      energyUnits,
      energy.length,
      core,
      frames,
    );
    const created = { n: Number(lastInsertRowid), version: 1, status, span: -1 };
    sessions.add(sessionId, created);
    return created;
  }

  /** The journal first: what it refuses is then refused before anything changed. */
  function writeStory(rows: CommitRows, { n }: KnownSession): void {
    for (const entry of rows.journal) {
      if (entry.intent === undefined) finishEntry(rows, n, entry);
      else startEntry(rows, n, entry);
    }
    touched = true;
    for (const scope of rows.dropScopes) statements.dropScopes.run(n, scope, afterPrefix(scope) ?? AFTER_ALL_TEXT);
    for (const { scope, key, implicit, ord, value } of rows.context) {
      statements.putContext.run(n, scope, key, rows.owner, implicit ? 1 : 0, ord, value);
    }
    if (rows.session !== undefined && (rows.session.planHash !== null || rows.session.input !== null)) {
      statements.putSessionInput.run(n, rows.owner, rows.session.planHash, rows.session.input);
    }
  }

  function startEntry({ sessionId, owner }: CommitRows, n: number, { ord, intent, outcome }: JournalText): void {
    if (intent === undefined) return;
    try {
      statements.startJournal.run(
        n,
        ord,
        intent.scope,
        intent.stepId,
        owner,
        intent.toolId,
        intent.effects,
        intent.key,
        intent.argsHash,
        outcome?.state ?? "started",
        outcome?.energyUnits ?? 0,
        intent.startedAt,
        outcome?.finishedAt ?? null,
        intent.request,
        outcome?.result ?? null,
      );
    } catch (thrown) {
      throw isDuplicate(thrown) ? refuse.positionTaken(sessionId, ord) : thrown;
    }
    touched = true;
  }

  function finishEntry({ sessionId }: CommitRows, n: number, { ord, outcome }: JournalText): void {
    if (outcome === undefined) return;
    const { state, energyUnits, finishedAt, result } = outcome;
    if (statements.finishJournal.run(state, energyUnits, finishedAt, result, n, ord).changes === 0) {
      const settled = statements.journalState.get(n, ord) !== undefined;
      throw settled ? refuse.positionSettled(sessionId, ord) : refuse.positionUnknown(sessionId, ord);
    }
    touched = true;
  }

  function updateSession({ sessionId, session, energyUnits, energy }: CommitRows, known: KnownSession): void {
    const { n, version } = known;
    if (session === undefined) {
      if (energy.length > 0) statements.addSessionEnergy.run(energyUnits, energy.length, n);
      return;
    }
    const { core, frames, status } = session;
    const { changes } =
      status === known.status
        ? statements.updateSession.run(core, frames, energyUnits, energy.length, n, version)
        : statements.updateSessionStatus.run(core, frames, energyUnits, energy.length, status, n, version);
    if (changes === 0) throw refuse.conflict(sessionId, version, -1);
    known.version = version + 1;
    known.status = status;
  }

  function writeShared(rows: CommitRows, n: number | null): void {
    touched = true;
    const { owner, plan, cursor } = rows;
    for (const { at, cause, units, toolId, reference } of rows.energy) {
      statements.addEnergy.run(n, owner, at, cause, units, toolId, reference);
    }
    if (plan !== undefined) statements.putPlan.run(plan.hash, owner, plan.plan);
    for (const { id, bytes, mediaType, at } of rows.blobs) statements.addBlob.run(id, owner, bytes, mediaType, at);
    if (cursor !== undefined) statements.moveCursor.run(cursor.name, owner, cursor.seq);
  }

  function noteSpan(session: KnownSession): void {
    const span = spanOf(lastSeq);
    if (session.span === span) return;
    statements.addSpan.run(session.n, span);
    session.span = span;
  }

  return {
    write,
    touched: () => touched,
    lastSeq: () => lastSeq,
    rewind: (seq) => {
      lastSeq = seq;
      sessions.forget();
    },
  };
}
