import type { Preparer } from "../database/reader.ts";

/** Sessions whose number and version, or absence, are remembered, so that a step need not look them up. */
export const MAX_KNOWN_SESSIONS = 10_000;

/** A session as the tables have it. */
export type KnownSession = {
  readonly n: number;
  readonly version: number;
  readonly status: string;
  /** No journal position in the tables sorts after this; undefined when that is not known. */
  readonly tip: string | undefined;
};

export type SessionDirectory = {
  readonly find: (id: string) => KnownSession | undefined;
  readonly note: (id: string, session: KnownSession) => void;
  /** After a transaction that was rolled back. */
  readonly forget: () => void;
};

/** True as long as this process is the only writer, which the epoch ensures. */
export function createSessionDirectory({ prepare }: Preparer): SessionDirectory {
  const select = prepare("SELECT n, version, status FROM sessions WHERE id = ?");
  const known = new Map<string, KnownSession>();
  /** Not in the tables: a session that is made is looked for first. */
  const absent = new Set<string>();

  function note(id: string, session: KnownSession): void {
    absent.delete(id);
    known.delete(id);
    if (known.size >= MAX_KNOWN_SESSIONS) {
      const oldest = known.keys().next();
      if (oldest.done !== true) known.delete(oldest.value);
    }
    known.set(id, session);
  }

  return {
    note,
    forget: () => {
      known.clear();
      absent.clear();
    },
    find: (id) => {
      const remembered = known.get(id);
      if (remembered !== undefined || absent.has(id)) return remembered;
      const row = select.get(id);
      if (row === undefined) {
        if (absent.size >= MAX_KNOWN_SESSIONS) absent.clear();
        absent.add(id);
        return undefined;
      }
      const { n, version, status } = row;
      const session = { n: Number(n), version: Number(version), status: String(status), tip: undefined };
      note(id, session);
      return session;
    },
  };
}
