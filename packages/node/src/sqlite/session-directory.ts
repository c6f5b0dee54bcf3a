import type { DatabaseSync } from "node:sqlite";

/** Sessions whose number and version are remembered, so that a step need not look them up. */
export const MAX_KNOWN_SESSIONS = 10_000;

export type KnownSession = {
  readonly n: number;
  version: number;
  status: string;
  /** The last span of event numbers that is known to be noted for this session. */
  span: number;
};

export type SessionDirectory = {
  readonly find: (id: string) => KnownSession | undefined;
  readonly add: (id: string, session: KnownSession) => void;
  readonly forget: () => void;
};

/** True as long as this process is the only writer, which the lock on the database ensures. */
export function createSessionDirectory(db: DatabaseSync): SessionDirectory {
  const select = db.prepare("SELECT n, version, status FROM sessions WHERE id = ?");
  const known = new Map<string, KnownSession>();

  function add(id: string, session: KnownSession): void {
    if (known.size >= MAX_KNOWN_SESSIONS) {
      const oldest = known.keys().next();
      if (oldest.done !== true) known.delete(oldest.value);
    }
    known.set(id, session);
  }

  return {
    add,
    find: (id) => {
      const remembered = known.get(id);
      if (remembered !== undefined) return remembered;
      const row = select.get(id);
      if (row === undefined) return undefined;
      const session = { n: Number(row["n"]), version: Number(row["version"]), status: String(row["status"]), span: -1 };
      add(id, session);
      return session;
    },
    forget: () => known.clear(),
  };
}
