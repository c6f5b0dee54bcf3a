import { type CommitRows, type SessionRow } from "@ergon/core";
import { addToSession, newTailSession, type TailSession } from "./tail-session.ts";
import type { KnownSession, SessionDirectory } from "./session-directory.ts";

/*
 * The commits that are in the tail, in memory: what reads must see besides the tables, and what a fold will write.
 *
 * T1  A commit is added only after everything that could refuse it was asked.
 * T2  Numbers of sessions and events are given in the order of the commits; the same commits get the same numbers
 *     again after a restart.
 */
export type Tail = {
  readonly commits: readonly CommitRows[];
  readonly chars: number;
  readonly sessions: ReadonlyMap<string, TailSession>;
  readonly events: readonly TailEvents[];
  /** The last number that the tables have. */
  readonly foldedSeq: number;
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

export type TailWriter = {
  readonly now: () => Tail;
  /** The session as it is after every commit so far; undefined when there is none. */
  readonly find: (sessionId: string) => KnownSession | TailSession | undefined;
  readonly add: (rows: CommitRows) => TailSession | undefined;
  /** Forgets the commits after the first `count`: their transaction came to nothing. */
  readonly keep: (count: number) => void;
  /** The tables have it all now. */
  readonly clear: () => void;
};

type Mutable = { -readonly [K in keyof Tail]: Tail[K] } & {
  commits: CommitRows[];
  sessions: Map<string, TailSession>;
  events: TailEvents[];
};

export function createTail(
  directory: SessionDirectory,
  start: { readonly lastSeq: number; readonly lastN: number },
): TailWriter {
  let folded = start;
  let tail = emptyTail(folded);

  function sessionOf({ sessionId, owner, session }: CommitRows, bases: Bases): TailSession | undefined {
    if (sessionId === "") return undefined;
    const known = tail.sessions.get(sessionId);
    if (known !== undefined) return known;
    const made = newTailSession(sessionId, owner, bases(sessionId) ?? newBase(session));
    tail.sessions.set(sessionId, made);
    return made;
  }

  function newBase(session: SessionRow | undefined): KnownSession {
    tail.lastN += 1;
    return { n: tail.lastN, version: 0, status: session?.status ?? "", tip: "" };
  }

  function add(rows: CommitRows, bases: Bases): TailSession | undefined {
    const session = sessionOf(rows, bases);
    tail.commits.push(rows);
    tail.chars += rows.chars;
    if (session !== undefined) addToSession(session, rows);
    if (rows.events !== undefined) {
      const { count, text } = rows.events;
      tail.lastSeq += count;
      tail.events.push({ seq: tail.lastSeq, count, owner: rows.owner, session, text });
    }
    return session;
  }

  return {
    now: () => tail,
    find: (sessionId) => tail.sessions.get(sessionId) ?? directory.find(sessionId),
    add: (rows) => add(rows, directory.find),
    keep: (count) => {
      const before = tail;
      tail = emptyTail(folded);
      // Without asking the database, which may be what failed.
      const bases: Bases = (id) => {
        const base = before.sessions.get(id)?.base;
        return base?.version === 0 ? undefined : base;
      };
      for (const rows of before.commits.slice(0, count)) add(rows, bases);
    },
    clear: () => {
      for (const { id, base, version, row, tip } of tail.sessions.values()) {
        directory.note(id, { n: base.n, version, status: row?.status ?? base.status, tip });
      }
      folded = { lastSeq: tail.lastSeq, lastN: tail.lastN };
      tail = emptyTail(folded);
    },
  };
}

type Bases = (sessionId: string) => KnownSession | undefined;

function emptyTail({ lastSeq, lastN }: { readonly lastSeq: number; readonly lastN: number }): Mutable {
  return { commits: [], chars: 0, sessions: new Map(), events: [], foldedSeq: lastSeq, lastSeq, lastN };
}
