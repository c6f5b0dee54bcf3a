import type { BlobText, CommitRows, SessionRow } from "@ergon/core";
import { addToSession, newTailSession, type TailSession } from "./tail-session.ts";
import type { KnownSession, SessionDirectory } from "./session-directory.ts";

/*
 * What the commits in the tail come to, in memory: what reads must see besides the tables, and what a fold will write.
 *
 * T1  A commit is added only after everything that could refuse it was asked.
 * T2  Numbers of sessions and events are given in the order of the commits; the same commits get the same numbers
 *     again after a restart.
 */
export type Tail = {
  readonly commits: number;
  readonly chars: number;
  readonly sessions: ReadonlyMap<string, TailSession>;
  readonly events: readonly TailEvents[];
  readonly energy: ReadonlyMap<string, TailEnergy>;
  readonly plans: ReadonlyMap<string, { readonly owner: string; readonly plan: string }>;
  readonly blobs: readonly (BlobText & { readonly owner: string })[];
  readonly cursors: ReadonlyMap<string, { readonly owner: string; readonly seq: number }>;
  readonly lastSeq: number;
  readonly lastN: number;
};

/** The events of one commit, as a JSON array; the last of them has the number `seq`. */
export type TailEvents = {
  readonly seq: number;
  readonly count: number;
  readonly owner: string;
  readonly session: TailSession | undefined;
  readonly text: string;
};

/** What one owner spent for one session, or for none; `entries` are its ledger rows, without the array around them. */
type TailEnergy = {
  readonly session: TailSession | undefined;
  readonly owner: string;
  units: number;
  rows: number;
  entries: string;
};

export type TailWriter = {
  readonly now: () => Tail;
  /** The session as it is after every commit so far; undefined when there is none. */
  readonly find: (sessionId: string) => KnownSession | TailSession | undefined;
  readonly add: (rows: CommitRows) => TailSession | undefined;
  /** Begins anew with what the tables have; a tail that came to nothing is forgotten so. */
  readonly reset: () => void;
  /** The tables have it all now. */
  readonly folded: () => void;
};

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Growing = Mutable<Omit<Tail, "sessions" | "events" | "energy" | "plans" | "blobs" | "cursors">> & {
  readonly sessions: Map<string, TailSession>;
  readonly events: TailEvents[];
  readonly energy: Map<string, TailEnergy>;
  readonly plans: Map<string, { readonly owner: string; readonly plan: string }>;
  readonly blobs: (BlobText & { readonly owner: string })[];
  readonly cursors: Map<string, { readonly owner: string; readonly seq: number }>;
};

type Numbers = Pick<Tail, "lastSeq" | "lastN">;

export function createTail(directory: SessionDirectory, stored: Numbers): TailWriter {
  let numbers = stored;
  let tail = emptyTail(numbers);

  function sessionOf({ sessionId, owner, session }: CommitRows): TailSession | undefined {
    if (sessionId === "") return undefined;
    const known = tail.sessions.get(sessionId);
    if (known !== undefined) return known;
    const made = newTailSession(sessionId, owner, directory.find(sessionId) ?? newBase(session));
    tail.sessions.set(sessionId, made);
    return made;
  }

  function newBase(session: SessionRow | undefined): KnownSession {
    tail.lastN += 1;
    return { n: tail.lastN, version: 0, status: session?.status ?? "", tip: "" };
  }

  return {
    now: () => tail,
    find: (sessionId) => tail.sessions.get(sessionId) ?? directory.find(sessionId),
    add: (rows) => {
      const session = sessionOf(rows);
      tail.commits += 1;
      tail.chars += rows.chars;
      if (session !== undefined) addToSession(session, rows);
      addShared(tail, rows, session);
      return session;
    },
    reset: () => {
      tail = emptyTail(numbers);
    },
    folded: () => {
      for (const { id, base, version, row, tip } of tail.sessions.values()) {
        directory.note(id, { n: base.n, version, status: row?.status ?? base.status, tip });
      }
      numbers = { lastSeq: tail.lastSeq, lastN: tail.lastN };
      tail = emptyTail(numbers);
    },
  };
}

function emptyTail({ lastSeq, lastN }: Numbers): Growing {
  return {
    commits: 0,
    chars: 0,
    sessions: new Map(),
    events: [],
    energy: new Map(),
    plans: new Map(),
    blobs: [],
    cursors: new Map(),
    lastSeq,
    lastN,
  };
}

function addShared(tail: Growing, rows: CommitRows, session: TailSession | undefined): void {
  const { owner, events, energy, plan, blobs, cursor } = rows;
  if (events !== undefined) {
    const { types, text } = events;
    const count = types.length;
    tail.lastSeq += count;
    tail.events.push({ seq: tail.lastSeq, count, owner, session, text });
  }
  if (energy !== undefined) addEnergy(tail, energy, owner, session);
  if (plan !== undefined && !tail.plans.has(plan.hash)) tail.plans.set(plan.hash, { owner, plan: plan.plan });
  for (const blob of blobs) tail.blobs.push({ ...blob, owner });
  if (cursor !== undefined) tail.cursors.set(cursor.name, { owner, seq: cursor.seq });
}

function addEnergy(
  { energy }: Growing,
  { units, rows, text }: NonNullable<CommitRows["energy"]>,
  owner: string,
  session: TailSession | undefined,
): void {
  const key = `${String(session?.base.n ?? 0)} ${owner}`;
  const entries = text.slice(1, -1);
  const ledger = energy.get(key);
  if (ledger === undefined) {
    energy.set(key, { session, owner, units, rows, entries });
    return;
  }
  ledger.units += units;
  ledger.rows += rows;
  ledger.entries += `,${entries}`;
}
