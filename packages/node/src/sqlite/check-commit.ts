import type { DatabaseSync } from "node:sqlite";
import { type CommitRows, refuse } from "@ergon/core";
import type { KnownSession } from "./session-directory.ts";
import type { TailWriter } from "./tail.ts";
import type { TailSession } from "./tail-session.ts";

/** Throws what makes a commit impossible. After it, nothing but the disk can refuse the commit (T1). */
export function createCommitCheck(db: DatabaseSync, tail: TailWriter): (rows: CommitRows) => void {
  const select = db.prepare("SELECT outcome IS NULL AS open FROM journal WHERE session_n = ? AND ord = ?");

  /** Whether the row waits for its end; undefined when there is no such row. */
  function isOpen(
    session: KnownSession | TailSession | undefined,
    sessionId: string,
    ord: string,
  ): boolean | undefined {
    if (session === undefined) return undefined;
    const inTail = "base" in session ? tail.entry(sessionId, ord) : undefined;
    if (inTail !== undefined) return inTail.outcome === undefined;
    const { n, version, tip } = "base" in session ? session.base : session;
    if (version === 0 || (tip !== undefined && ord > tip)) return undefined;
    const row = select.get(n, ord);
    return row === undefined ? undefined : row["open"] === 1;
  }

  return (rows) => {
    const { sessionId, expectVersion, journal } = rows;
    const session = sessionId === "" ? undefined : tail.find(sessionId);
    const version = session?.version ?? 0;
    if (expectVersion !== undefined && expectVersion !== version)
      throw refuse.conflict(sessionId, expectVersion, version);
    if (session === undefined && rows.session === undefined && sessionId !== "") throw refuse.unknownSession(sessionId);
    // Positions of this commit that come twice in it, as a start and its end may.
    const own = new Map<string, boolean>();
    for (const { ord, intent, outcome } of journal) {
      const open = own.get(ord) ?? isOpen(session, sessionId, ord);
      if (intent !== undefined && open !== undefined) throw refuse.positionTaken(sessionId, ord);
      if (intent === undefined && open === undefined) throw refuse.positionUnknown(sessionId, ord);
      if (intent === undefined && open === false) throw refuse.positionSettled(sessionId, ord);
      if (journal.length > 1) own.set(ord, outcome === undefined);
    }
  };
}
