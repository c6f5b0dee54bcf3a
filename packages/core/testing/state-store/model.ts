import type { Commit, ContextWrite, JournalQuery, JournalRow } from "../../src/ports/state-store.ts";
import type { StoredEvent } from "../../src/schema/event.ts";

/*
 * The state store as its port describes it, in the plainest way: lists that are searched from end to end. It says
 * what a real store must answer; it is slow, and shares no code with any store.
 */
export type Model = {
  /** What `commit` gives: a receipt, or the code it is refused with. */
  readonly commit: (commit: Commit) => Outcome;
  readonly journal: (query: JournalQuery) => JournalRow[];
  readonly context: (sessionId: string) => ContextWrite[];
  readonly events: (filter: Partial<StoredEvent>) => StoredEvent[];
  readonly version: (sessionId: string) => number;
  readonly energy: (filter: { readonly sessionId?: string; readonly owner?: string }) => {
    units: number;
    rows: number;
  };
  readonly cursor: (name: string) => number;
  readonly sessionIds: () => string[];
};

type Outcome = { readonly version: number; readonly lastSeq: number } | { readonly code: string };

type State = {
  readonly sessions: { readonly id: string; readonly version: number }[];
  readonly context: { readonly sessionId: string; readonly write: ContextWrite }[];
  readonly journal: { readonly sessionId: string; readonly row: JournalRow }[];
  readonly events: StoredEvent[];
  readonly energy: { readonly sessionId: string; readonly owner: string; readonly units: number }[];
  readonly cursors: { readonly name: string; readonly seq: number }[];
};

export function createModel(): Model {
  let state: State = { sessions: [], context: [], journal: [], events: [], energy: [], cursors: [] };
  const version = (id: string): number => state.sessions.findLast((session) => session.id === id)?.version ?? 0;

  return {
    version,
    commit: (commit) => {
      if (commit.expectVersion !== undefined && commit.expectVersion !== version(commit.sessionId))
        return { code: "session_conflict" };
      if (commit.session === undefined && version(commit.sessionId) === 0) return { code: "session_not_found" };
      const next = applied(state, commit);
      if (next === undefined) return { code: "commit_invalid" };
      state = next;
      return { version: version(commit.sessionId), lastSeq: state.events.length };
    },
    journal: ({ sessionId, ranges, stepId, settledOnly, order, offset = 0, limit }) => {
      const rows = state.journal
        .filter((entry) => entry.sessionId === sessionId)
        .map(({ row }) => row)
        .filter(
          (row) => ranges === undefined || ranges.some(({ from, to }) => row.position >= from && row.position < to),
        )
        .filter((row) => stepId === undefined || row.stepId === stepId)
        .filter((row) => settledOnly !== true || row.state !== "started")
        .sort((a, b) => (a.position < b.position ? -1 : 1));
      if (order === "newest") rows.reverse();
      return rows.slice(offset, offset + limit);
    },
    context: (sessionId) => {
      const latest = new Map<string, ContextWrite>();
      for (const entry of state.context) {
        if (entry.sessionId === sessionId)
          latest.set(JSON.stringify([entry.write.scope, entry.write.key]), entry.write);
      }
      return [...latest.values()].sort((a, b) => order([a.scope, a.key], [b.scope, b.key]));
    },
    events: (filter) =>
      state.events.filter(
        (event) =>
          (filter.sessionId === undefined || event.sessionId === filter.sessionId) &&
          (filter.owner === undefined || event.owner === filter.owner) &&
          event.seq > (filter.seq ?? 0),
      ),
    energy: ({ sessionId, owner }) => {
      const rows = state.energy.filter(
        (row) =>
          (sessionId === undefined || row.sessionId === sessionId) && (owner === undefined || row.owner === owner),
      );
      return { units: rows.reduce((sum, { units }) => sum + units, 0), rows: rows.length };
    },
    cursor: (name) => state.cursors.findLast((cursor) => cursor.name === name)?.seq ?? 0,
    sessionIds: () => [...new Set(state.sessions.map(({ id }) => id))],
  };
}

/** The next state, or undefined when the journal cannot take the commit. */
function applied(state: State, commit: Commit): State | undefined {
  const { sessionId, owner } = commit;
  const journal = [...state.journal];
  for (const write of commit.journal ?? []) {
    const at = journal.findIndex((entry) => entry.sessionId === sessionId && entry.row.position === write.position);
    if (write.kind === "finish") {
      const row = journal[at]?.row;
      if (row?.state !== "started") return undefined;
      const { state: settled, result, energyUnits } = write;
      journal[at] = { sessionId, row: { ...row, state: settled, result, energyUnits, finishedAt: write.at } };
    } else {
      if (at >= 0) return undefined;
      const { kind: _kind, at: startedAt, ...rest } = write;
      const fresh = write.kind === "start" ? ({ state: "started", energyUnits: 0 } as const) : {};
      journal.push({ sessionId, row: { state: "started", energyUnits: 0, ...rest, startedAt, ...fresh } });
    }
  }
  const kept = state.context.filter(
    ({ sessionId: of, write: { scope } }) =>
      of !== sessionId || !(commit.dropScopes ?? []).some((drop) => scope.startsWith(drop) && scope !== drop),
  );
  const seq = state.events.length;
  const version = (state.sessions.findLast(({ id }) => id === sessionId)?.version ?? 0) + 1;
  return {
    journal,
    sessions: commit.session === undefined ? state.sessions : [...state.sessions, { id: sessionId, version }],
    context: [...kept, ...(commit.context ?? []).map((write) => ({ sessionId, write }))],
    events: [
      ...state.events,
      ...(commit.events ?? []).map((event, n) => ({ ...event, owner, sessionId, seq: seq + n + 1 })),
    ],
    energy: [...state.energy, ...(commit.energy ?? []).map(({ units }) => ({ sessionId, owner, units }))],
    cursors: commit.cursor === undefined ? state.cursors : [...state.cursors, commit.cursor],
  };
}

function order(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((part, n) => part !== b[n]);
  return at < 0 ? 0 : (a[at] ?? "") < (b[at] ?? "") ? -1 : 1;
}
