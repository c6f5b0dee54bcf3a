import { storeError } from "../../errors/store.ts";
import type { Engine, FollowEvents, SessionRef } from "../../ports/engine.ts";
import {
  type CommitNews,
  type ContextRow,
  type JournalRow,
  MAX_PAGE_ROWS,
  type SessionRecord,
  type StateStore,
} from "../../ports/state-store.ts";
import type { StoredEvent } from "../../schema/event.ts";
import type { SessionContext } from "../../schema/session.ts";
import { diffRuns, type ComparedRun } from "../diff/diff-runs.ts";
import { readRun } from "../diff/read-run.ts";
import { readCorrections } from "./correction-rows.ts";
import { readOpenCalls } from "./effects/open-calls.ts";
import type { EngineDeps } from "./engine-deps.ts";
import { historyEntry, outputOf, storedValue } from "./run/run-data.ts";

export const HISTORY_PAGE = 1_000;
/** What a reader of events that does not go on may keep in memory. */
const FOLLOW_PAGE = 100;

/** The reading half of the engine. */
export type SessionReader = Pick<Engine, "readSession" | "diff" | "listSessions" | "follow" | "readBlob"> & {
  readonly record: (ref: SessionRef) => Promise<SessionRecord>;
};

export function createSessionReader({ store, blobs }: Pick<EngineDeps, "store" | "blobs">): SessionReader {
  const record = async ({ owner, sessionId }: SessionRef): Promise<SessionRecord> => {
    const found = await store.readSession(sessionId);
    // What another made does not exist: an id must not be told apart from a wrong one.
    if (found === undefined || found.owner !== owner)
      throw storeError("session_not_found", `No session "${sessionId}".`);
    return found;
  };
  const compared = async (ref: SessionRef): Promise<ComparedRun> => {
    const found = await record(ref);
    const { sessionId } = ref;
    const rows = await store.readContext(sessionId, [""]);
    return await readRun(store, found, await contextOf(store, sessionId, rows, []));
  };
  return {
    record,
    readSession: async ({ owner, sessionId, historyLimit, historyCursor }) => {
      const limit = Math.min(historyLimit ?? HISTORY_PAGE, HISTORY_PAGE);
      // Asked for in one turn, so that they show one moment.
      const [found, rows, kept, corrections] = await Promise.all([
        record({ owner, sessionId }),
        store.readJournal({
          sessionId,
          settledOnly: true,
          order: "newest",
          limit,
          ...(historyCursor === undefined ? {} : { ranges: [{ from: "", to: historyCursor }] }),
        }),
        store.readContext(sessionId, [""]),
        readCorrections(store, sessionId),
      ]);
      const oldest = rows.at(-1);
      const more = rows.length === limit && oldest !== undefined ? { nextCursor: oldest.position } : {};
      const context = await contextOf(store, sessionId, kept, rows);
      const openCalls = await readOpenCalls(store, found);
      return {
        core: found.core,
        context,
        history: rows.map(historyEntry).reverse(),
        ...more,
        ...(openCalls.length === 0 ? {} : { openCalls }),
        ...(corrections.length === 0 ? {} : { corrections }),
      };
    },
    diff: async ({ owner, sessionId, withSessionId }) => {
      const [one, other] = await Promise.all([
        compared({ owner, sessionId }),
        compared({ owner, sessionId: withSessionId }),
      ]);
      return diffRuns(one, other);
    },
    listSessions: async ({ owner, status, runId, limit, cursor }) => {
      const page = await store.listSessions({
        owner,
        limit: Math.min(limit, MAX_PAGE_ROWS),
        ...(status === undefined ? {} : { status }),
        ...(runId === undefined ? {} : { runId }),
        ...(cursor === undefined ? {} : { cursor }),
      });
      return { ...page, items: page.items.map(({ core }) => core) };
    },
    follow: (request) => followEvents(store, record, request),
    readBlob: async ({ owner, id }) => {
      const row = await store.readBlobRow(id, owner);
      if (row === undefined) throw storeError("blob_not_found", `No blob "${id}".`);
      return { bytes: await blobs.get(id), mediaType: row.ref.mediaType };
    },
  };
}

/** Most outputs that context refers to are in the history that was read anyway. */
async function contextOf(
  store: StateStore,
  sessionId: string,
  kept: readonly ContextRow[],
  rows: readonly JournalRow[],
): Promise<SessionContext> {
  const read = new Map(rows.map((row) => [row.position, row]));
  const context: SessionContext = {};
  for (const { key, value } of kept) {
    const row = value.kind === "output" ? read.get(value.position) : undefined;
    context[key] =
      row === undefined ? await storedValue(store, sessionId, value) : outputOf(row, sessionId, row.position);
  }
  return context;
}

/** What a session came to is told only when it is on the disk; how its steps go may be a moment ahead of it. */
function isTold({ type }: StoredEvent): boolean {
  return type.startsWith("session-");
}

/** Reads the outbox itself, page by page, so that a slow reader costs nobody anything and misses nothing. */
async function* followEvents(
  store: StateStore,
  record: SessionReader["record"],
  { owner, sessionId, afterSeq, signal, onBegun }: FollowEvents,
): AsyncGenerator<StoredEvent> {
  if (sessionId !== undefined) await record({ owner, sessionId });
  let seq = afterSeq === "now" ? await store.lastEventSeq() : afterSeq;
  onBegun?.(seq);
  let news = Promise.withResolvers<void>();
  // Thousands may listen: only those whom an event is for read the outbox.
  const isOurs = (commit: CommitNews): boolean =>
    commit.owner === owner && (sessionId === undefined || commit.sessionId === sessionId);
  const stop = store.watch((commits) => {
    if (commits.some(isOurs)) news.resolve();
  });
  const abort = (): void => news.resolve();
  signal.addEventListener("abort", abort);
  try {
    while (!signal.aborted) {
      const events = await store.readEvents({
        afterSeq: seq,
        owner,
        limit: FOLLOW_PAGE,
        ...(sessionId === undefined ? {} : { sessionId }),
      });
      if (events.some(isTold)) await store.sync();
      for (const event of events) {
        if (signal.aborted) return;
        seq = event.seq;
        yield event;
      }
      if (events.length === FOLLOW_PAGE) continue;
      if (events.length === 0) await news.promise;
      news = Promise.withResolvers<void>();
    }
  } finally {
    stop();
    signal.removeEventListener("abort", abort);
  }
}
