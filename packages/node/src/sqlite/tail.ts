import type { BlobText, CommitRows, SessionRow } from "@ergon/core";
import { addToSession, newTailSession, type TailEntry, type TailSession } from "./tail-session.ts";
import type { KnownSession, SessionDirectory } from "./session-directory.ts";

/*
 * What the commits in the tail come to, in memory: what reads must see besides the tables, and what a fold will write.
 *
 * T1  A commit is added only after everything that could refuse it was asked.
 * T2  Numbers of sessions and events are given in the order of the commits; the same commits get the same numbers
 *     again after a restart, and when another thread folds them.
 * T3  What was sent away to be folded is seen until it is back; the tables may have it already.
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
  /** Of the first event that it has, or will have. */
  readonly firstSeq: number;
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
  /** What somebody else is folding. */
  readonly away: () => Tail | undefined;
  /** The session as it is after every commit so far; undefined when there is none. */
  readonly find: (sessionId: string) => KnownSession | TailSession | undefined;
  /** What the tail has of a call. */
  readonly entry: (sessionId: string, ord: string) => TailEntry | undefined;
  readonly add: (rows: CommitRows) => TailSession | undefined;
  /** Begins anew with what the tables have and what is away; a tail that came to nothing is forgotten so. */
  readonly reset: () => void;
  /** The tables have it all now. */
  readonly folded: () => void;
  /** Keeps what there is apart from what comes; gives the numbers that it began with. */
  readonly sendAway: () => TailNumbers;
  /** The tables have what was away, or nobody has and it is forgotten together with what came after. */
  readonly back: (isFolded: boolean) => void;
};

export type TailNumbers = Pick<Tail, "lastSeq" | "lastN">;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Growing = Mutable<Omit<Tail, "sessions" | "events" | "energy" | "plans" | "blobs" | "cursors">> & {
  readonly sessions: Map<string, TailSession>;
  readonly events: TailEvents[];
  readonly energy: Map<string, TailEnergy>;
  readonly plans: Map<string, { readonly owner: string; readonly plan: string }>;
  readonly blobs: (BlobText & { readonly owner: string })[];
  readonly cursors: Map<string, { readonly owner: string; readonly seq: number }>;
};

export function createTail(directory: SessionDirectory, stored: TailNumbers): TailWriter {
  let numbers = stored;
  let tail = emptyTail(numbers);
  let away: Growing | undefined;

  function sessionOf({ sessionId, owner, session }: CommitRows): TailSession | undefined {
    if (sessionId === "") return undefined;
    const known = tail.sessions.get(sessionId);
    if (known !== undefined) return known;
    const sent = away?.sessions.get(sessionId);
    const made =
      sent === undefined
        ? newTailSession(sessionId, owner, directory.find(sessionId) ?? newBase(session))
        : followingOn(sent);
    tail.sessions.set(sessionId, made);
    return made;
  }

  function newBase(session: SessionRow | undefined): KnownSession {
    tail.lastN += 1;
    return { n: tail.lastN, version: 0, status: session?.status ?? "", tip: "" };
  }

  function noteAll({ sessions, lastSeq, lastN }: Growing): void {
    for (const session of sessions.values()) directory.note(session.id, knownAfter(session));
    numbers = { lastSeq, lastN };
  }

  return {
    now: () => tail,
    away: () => away,
    find: (sessionId) => tail.sessions.get(sessionId) ?? away?.sessions.get(sessionId) ?? directory.find(sessionId),
    entry: (sessionId, ord) => {
      const newer = tail.sessions.get(sessionId)?.journal.get(ord);
      const older = away?.sessions.get(sessionId)?.journal.get(ord);
      if (newer === undefined || older === undefined) return newer ?? older;
      return { ...older, outcome: newer.outcome };
    },
    add: (rows) => {
      const session = sessionOf(rows);
      tail.commits += 1;
      tail.chars += rows.chars;
      if (session !== undefined) addToSession(session, rows);
      addShared(tail, rows, session);
      return session;
    },
    reset: () => {
      tail = emptyTail(away ?? numbers);
    },
    folded: () => {
      noteAll(tail);
      tail = emptyTail(numbers);
    },
    sendAway: () => {
      away = tail;
      tail = emptyTail(away);
      return numbers;
    },
    back: (isFolded) => {
      if (isFolded && away !== undefined) noteAll(away);
      away = undefined;
      if (!isFolded) tail = emptyTail(numbers);
    },
  };
}

function knownAfter({ base, version, row, tip }: TailSession): KnownSession {
  return { n: base.n, version, status: row?.status ?? base.status, tip };
}

/** Reads see the newest of a session alone, so it has what those see that look at the whole row. */
function followingOn(sent: TailSession): TailSession {
  const { id, owner, row, planHash, input } = sent;
  return { ...newTailSession(id, owner, knownAfter(sent)), row, planHash, input };
}

function emptyTail({ lastSeq, lastN }: TailNumbers): Growing {
  return {
    commits: 0,
    chars: 0,
    sessions: new Map(),
    events: [],
    energy: new Map(),
    plans: new Map(),
    blobs: [],
    cursors: new Map(),
    firstSeq: lastSeq + 1,
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
