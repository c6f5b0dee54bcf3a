import { afterPrefix } from "@ergon/core";
import { AFTER_ALL_TEXT } from "./keys.ts";
import { foldEvents } from "./fold-events.ts";
import type { Tail } from "./tail.ts";
import type { TailSession } from "./tail-session.ts";
import type { WriteStatements } from "./write-statements.ts";

/** Puts the tail into the tables, inside the transaction that is open. */
export function foldTail(statements: WriteStatements, tail: Tail): void {
  const spent = foldEnergy(statements, tail);
  for (const session of tail.sessions.values()) {
    foldSession(statements, session, spent.get(session) ?? NOTHING);
    foldJournal(statements, session);
    foldContext(statements, session);
  }
  foldShared(statements, tail);
  foldEvents(statements, tail.events);
}

type Spent = { units: number; rows: number };
const NOTHING: Readonly<Spent> = { units: 0, rows: 0 };

/** One row for each session and owner; gives each session's own sum. */
function foldEnergy(statements: WriteStatements, { energy }: Tail): Map<TailSession, Spent> {
  const sums = new Map<TailSession, Spent>();
  for (const { session, owner, units, rows, entries } of energy.values()) {
    statements.addEnergy.run(session?.base.n ?? null, owner, units, rows, `[${entries}]`);
    if (session === undefined) continue;
    const sum = sums.get(session) ?? { units: 0, rows: 0 };
    sum.units += units;
    sum.rows += rows;
    sums.set(session, sum);
  }
  return sums;
}

function foldSession(statements: WriteStatements, session: TailSession, { units, rows }: Readonly<Spent>): void {
  const { id, owner, base, version, row, planHash, input } = session;
  if (row === undefined) {
    if (rows > 0) statements.addSessionEnergy.run(units, rows, base.n);
    return;
  }
  const { status, core, frames } = row;
  if (base.version === 0) statements.insertSession.run(base.n, id, owner, version, status, units, rows, core, frames);
  else if (status === base.status) statements.updateSession.run(version, core, frames, units, rows, base.n);
  else statements.updateSessionStatus.run(version, core, frames, units, rows, status, base.n);
  if (planHash !== null || input !== null) statements.putSessionInput.run(base.n, owner, planHash, input);
}

function foldJournal(statements: WriteStatements, { base: { n }, journal }: TailSession): void {
  for (const [ord, { stepId, owner, intent, outcome }] of journal) {
    if (intent === undefined) statements.finishJournal.run(outcome ?? null, n, ord);
    else statements.addJournal.run(n, ord, stepId, owner, intent, outcome ?? null);
  }
}

function foldContext(statements: WriteStatements, { base: { n, version }, drops, context }: TailSession): void {
  if (version > 0)
    for (const prefix of drops) statements.dropScopes.run(n, prefix, afterPrefix(prefix) ?? AFTER_ALL_TEXT);
  for (const values of context.values()) {
    for (const { scope, key, owner, implicit, ord, value } of values.values()) {
      statements.putContext.run(n, scope, key, owner, implicit ? 1 : 0, ord, value);
    }
  }
}

function foldShared(statements: WriteStatements, { plans, blobs, cursors }: Tail): void {
  for (const [hash, { owner, plan }] of plans) statements.putPlan.run(hash, owner, plan);
  for (const { id, owner, bytes, mediaType, at } of blobs) statements.addBlob.run(id, owner, bytes, mediaType, at);
  for (const [name, { owner, seq }] of cursors) statements.moveCursor.run(name, owner, seq);
}
