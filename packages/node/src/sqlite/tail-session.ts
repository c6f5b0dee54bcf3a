import type { CommitRows, ContextText, JournalText, SessionRow } from "@ergon/core";
import type { KnownSession } from "./session-directory.ts";

/** What the tail has of one session: the sum of its commits since the last fold. */
export type TailSession = {
  readonly id: string;
  /** Whose session it is, when the tail made it. */
  readonly owner: string;
  readonly base: KnownSession;
  version: number;
  row: SessionRow | undefined;
  planHash: string | null;
  input: string | null;
  tip: string | undefined;
  readonly journal: Map<string, TailEntry>;
  /** Prefixes of scopes to delete from the tables, before `context` is written. */
  readonly drops: Set<string>;
  readonly context: Map<string, Map<string, TailValue>>;
};

/** Without `intent` it ends a row that the tables have. */
export type TailEntry = {
  readonly owner: string;
  readonly stepId: string | null;
  readonly intent: string | undefined;
  outcome: string | undefined;
};
type TailValue = ContextText & { readonly owner: string };

export function newTailSession(id: string, owner: string, base: KnownSession): TailSession {
  return {
    id,
    owner,
    base,
    version: base.version,
    row: undefined,
    planHash: null,
    input: null,
    tip: base.version === 0 ? "" : base.tip,
    journal: new Map(),
    drops: new Set(),
    context: new Map(),
  };
}

export function addToSession(session: TailSession, rows: CommitRows): void {
  const { owner } = rows;
  if (rows.session !== undefined) {
    session.row = rows.session;
    session.version += 1;
    session.planHash = rows.session.planHash ?? session.planHash;
    session.input = rows.session.input ?? session.input;
  }
  for (const entry of rows.journal) addEntry(session, owner, entry);
  for (const prefix of rows.dropScopes) {
    session.drops.add(prefix);
    for (const scope of session.context.keys()) {
      if (scope !== prefix && scope.startsWith(prefix)) session.context.delete(scope);
    }
  }
  for (const value of rows.context) {
    let scope = session.context.get(value.scope);
    if (scope === undefined) {
      scope = new Map();
      session.context.set(value.scope, scope);
    }
    scope.set(value.key, { ...value, owner });
  }
}

function addEntry(session: TailSession, owner: string, { ord, stepId, intent, outcome }: JournalText): void {
  const begun = session.journal.get(ord);
  if (begun !== undefined) begun.outcome = outcome;
  else session.journal.set(ord, { owner, stepId, intent, outcome });
  if (intent !== undefined && session.tip !== undefined && ord > session.tip) session.tip = ord;
}
