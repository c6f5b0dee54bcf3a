import { type ErgonError, toErgonError } from "../errors/ergon-error.ts";
import type { Logger } from "../ports/logger.ts";
import type { BlobRow, CommitReceipt, StateStore } from "../ports/state-store.ts";
import type { StoredEvent } from "../schema/event.ts";
import type { AgenticPlan } from "../schema/plan.ts";
import { createCommitQueue } from "../store-kit/commit-queue.ts";
import type { BlobText, CommitRows, EventText } from "../store-kit/commit-rows.ts";
import {
  checkJournal,
  type MemorySession,
  newSession,
  readJournal,
  readScope,
  readScopes,
  sessionRecord,
  writeContext,
  writeJournal,
} from "./memory-session.ts";
import { createEnergySums } from "./energy-totals.ts";
import { createMemoryRuns } from "./memory-runs.ts";
import { journalRow, newsOf, storedEvent } from "../store-kit/stored-rows.ts";
import {
  checkWhole,
  pageLimit,
  pageOf,
  refuse,
  scopeCursor,
  sessionCursor,
  writeScopeCursor,
} from "../store-kit/store-refusals.ts";

/** A StateStore that forgets at the end of the process: for edge functions, for tests, for `memory:`. */
export function createMemoryStateStore(options: { readonly logger?: Logger } = {}): StateStore {
  const sessions = new Map<string, MemorySession>();
  const inOrder: MemorySession[] = [];
  const plans = new Map<string, string>();
  const blobs = new Map<string, (BlobText & { readonly owner: string })[]>();
  const runs = createMemoryRuns();
  const cursors = new Map<string, number>();
  const events: StoredText[] = [];
  const energy = createEnergySums();
  const queue = createCommitQueue({
    logger: options.logger,
    atTurnEnd: (flush) => queueMicrotask(flush),
    apply: (batch) => {
      const before = events.length;
      const receipts = batch.map((rows) => attempt(() => applyCommit(rows)));
      const taken = batch.filter((_, at) => !(receipts[at] instanceof Error));
      return { receipts, news: newsOf(taken, before) };
    },
  });

  /** Everything that can be refused is refused before anything is changed (S1). */
  function applyCommit(rows: CommitRows): CommitReceipt {
    const known = sessions.get(rows.sessionId);
    const actual = known?.version ?? 0;
    if (rows.expectVersion !== undefined && rows.expectVersion !== actual) {
      throw refuse.conflict(rows.sessionId, rows.expectVersion, actual);
    }
    if (known === undefined && rows.session === undefined && rows.sessionId !== "")
      throw refuse.unknownSession(rows.sessionId);
    checkJournal(rows.sessionId, known, rows.journal);
    runs.check(rows);

    const session = rows.session === undefined ? known : writeSession(rows.sessionId, rows.owner, rows.session, known);
    if (session !== undefined) {
      for (const write of rows.journal) writeJournal(session, write);
      writeContext(session, rows);
    }
    writeShared(rows);
    return { version: session?.version ?? 0, lastSeq: events.length };
  }

  function writeSession(
    id: string,
    owner: string,
    row: NonNullable<CommitRows["session"]>,
    known: MemorySession | undefined,
  ): MemorySession {
    const session = known ?? newSession(inOrder.length + 1, { id, owner, row });
    if (known === undefined) {
      sessions.set(id, session);
      inOrder.push(session);
    }
    session.row = { ...row, planHash: row.planHash ?? session.row.planHash, input: row.input ?? session.row.input };
    session.version += 1;
    return session;
  }

  function writeShared(rows: CommitRows): void {
    const { owner, sessionId } = rows;
    runs.write(rows);
    if (rows.plan !== undefined && !plans.has(rows.plan.hash)) plans.set(rows.plan.hash, rows.plan.plan);
    for (const blob of rows.blobs) {
      const owned = blobs.get(blob.id) ?? [];
      if (!owned.some((row) => row.owner === owner)) blobs.set(blob.id, [...owned, { ...blob, owner }]);
    }
    for (const event of rows.events) events.push({ event, seq: events.length + 1, owner, sessionId });
    if (rows.cursor !== undefined) cursors.set(rows.cursor.name, rows.cursor.seq);
    for (const { units } of rows.energy) energy.add(sessionId, owner, { units, rows: 1 });
  }

  /** Every read is refused once the store is closed, and fails as a rejection. */
  async function reading<T>(read: () => T): Promise<T> {
    if (queue.closed()) throw refuse.closed();
    return read();
  }

  return {
    isVolatile: true,
    commit: queue.commit,
    sync: () => Promise.resolve(),
    watch: queue.watch,
    readSession: (sessionId) =>
      reading(() => {
        const session = sessions.get(sessionId);
        return session === undefined ? undefined : sessionRecord(session);
      }),
    listSessions: (query) =>
      reading(() => {
        const limit = pageLimit(query.limit);
        const after = sessionCursor(query.cursor);
        const ordered = query.order === "oldest" ? inOrder : inOrder.toReversed();
        const { runId } = query;
        const found = ordered
          .filter(({ n }) => after === undefined || (query.order === "oldest" ? n > after : n < after))
          .filter(({ owner }) => query.owner === undefined || owner === query.owner)
          .filter(({ id, owner }) => runId === undefined || runs.read({ owner, id: runId })?.sessionId === id)
          .filter(({ row }) => query.status === undefined || query.status.includes(row.status));
        const { items, nextCursor } = pageOf(found, limit, ({ n }) => String(n));
        return { items: items.map(sessionRecord), ...(nextCursor === undefined ? {} : { nextCursor }) };
      }),
    readRun: (run) => reading(() => runs.read(run)),
    readPlan: (hash) =>
      reading(() => {
        const plan = plans.get(hash);
        return plan === undefined ? undefined : (JSON.parse(plan) as AgenticPlan);
      }),
    readContext: (sessionId, scopes) =>
      reading(() => {
        const session = sessions.get(sessionId);
        return session === undefined ? [] : [...new Set(scopes)].flatMap((scope) => readScope(session, scope));
      }),
    readScopes: ({ sessionId, scopePrefix, cursor, limit: asked }) =>
      reading(() => {
        const limit = pageLimit(asked);
        const after = cursor === undefined ? undefined : scopeCursor(cursor);
        const session = sessions.get(sessionId);
        const rows = session === undefined ? [] : readScopes(session, { prefix: scopePrefix, after, limit });
        return pageOf(rows, limit, ({ scope, key }) => writeScopeCursor(scope, key));
      }),
    readJournal: (query) =>
      reading(() => {
        const session = sessions.get(query.sessionId);
        return session === undefined ? [] : readJournal(session, query);
      }),
    readJournalRow: (sessionId, position) =>
      reading(() => {
        const entry = sessions.get(sessionId)?.journal.get(position);
        return entry === undefined ? undefined : journalRow(position, entry.start, entry.end);
      }),
    readEvents: (query) =>
      reading(() => {
        const limit = pageLimit(query.limit);
        const found: StoredEvent[] = [];
        for (let at = checkWhole("afterSeq", query.afterSeq); at < events.length && found.length < limit; at += 1) {
          const event = events[at];
          if (event === undefined) break;
          if (query.owner !== undefined && event.owner !== query.owner) continue;
          if (query.sessionId !== undefined && event.sessionId !== query.sessionId) continue;
          found.push(storedEvent(event.event, event.seq, event.owner, event.sessionId));
        }
        return found;
      }),
    lastEventSeq: () => reading(() => events.length),
    readCursor: (name) => reading(() => cursors.get(name) ?? 0),
    readEnergy: (query) => reading(() => energy.of(query)),
    readBlobRow: (id, owner) =>
      reading(() => {
        const rows = blobs.get(id) ?? [];
        const row = owner === undefined ? rows[0] : rows.find((candidate) => candidate.owner === owner);
        return row === undefined ? undefined : blobRow(row);
      }),
    close: async () => queue.close(),
  };
}

type StoredText = {
  readonly event: EventText;
  readonly seq: number;
  readonly owner: string;
  readonly sessionId: string;
};

function blobRow({
  id,
  bytes,
  mediaType,
  at,
  owner,
}: BlobText & { readonly owner: string }): BlobRow & { readonly owner: string } {
  return { ref: { $blob: id, bytes, mediaType }, at, owner };
}

function attempt(apply: () => CommitReceipt): CommitReceipt | ErgonError {
  try {
    return apply();
  } catch (thrown) {
    return toErgonError(thrown, "commit_invalid");
  }
}
