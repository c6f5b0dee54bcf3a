import type { ContextRow, JournalQuery, JournalRow, SessionRecord } from "../ports/state-store.ts";
import type { Json } from "../schema/values/json.ts";
import type { SessionCore } from "../schema/session.ts";
import type {
  CommitRows,
  ContextText,
  JournalEndText,
  JournalStartText,
  JournalText,
  SessionRow,
} from "../store-kit/commit-rows.ts";
import { afterPrefix } from "../store-kit/byte-order.ts";
import { createSortedMap, type SortedMap } from "./sorted-map.ts";
import { checkWhole, pageLimit, refuse } from "../store-kit/store-refusals.ts";
import { journalRow } from "../store-kit/stored-rows.ts";

/** One session of the memory store. Values are kept as text, so that no reader shares an object with another. */
export type MemorySession = {
  readonly n: number;
  readonly id: string;
  readonly owner: string;
  version: number;
  row: SessionRow;
  readonly context: SortedMap<SortedMap<ContextText>>;
  readonly journal: SortedMap<JournalEntry>;
  readonly byStep: Map<string, SortedMap<JournalEntry>>;
};

type JournalEntry = { readonly start: JournalStartText; readonly end: JournalEndText | undefined };

export function newSession(n: number, made: Pick<MemorySession, "id" | "owner" | "row">): MemorySession {
  return {
    n,
    ...made,
    version: 0,
    context: createSortedMap(),
    journal: createSortedMap(),
    byStep: new Map(),
  };
}

/** Throws what would make the journal writes impossible; after it, `writeJournal` cannot fail. */
export function checkJournal(
  sessionId: string,
  session: MemorySession | undefined,
  writes: readonly JournalText[],
): void {
  const open = new Map<string, boolean>();
  for (const { position, start, end } of writes) {
    const entry = session?.journal.get(position);
    const isOpen = open.get(position) ?? (entry === undefined ? undefined : entry.end === undefined);
    if (start !== undefined && isOpen !== undefined) throw refuse.positionTaken(sessionId, position);
    if (start === undefined && isOpen === undefined) throw refuse.positionUnknown(sessionId, position);
    if (start === undefined && isOpen === false) throw refuse.positionSettled(sessionId, position);
    open.set(position, end === undefined);
  }
}

export function writeJournal(session: MemorySession, { position, start: given, end }: JournalText): void {
  const start = given ?? session.journal.get(position)?.start;
  if (start === undefined) return;
  const entry = { start, end };
  session.journal.set(position, entry);
  const { stepId } = start;
  if (stepId === null) return;
  let ofStep = session.byStep.get(stepId);
  if (ofStep === undefined) {
    ofStep = createSortedMap();
    session.byStep.set(stepId, ofStep);
  }
  ofStep.set(position, entry);
}

export function writeContext(session: MemorySession, { dropScopes, context }: CommitRows): void {
  for (const prefix of dropScopes) {
    const next = afterPrefix(prefix);
    const start = session.context.indexOf(prefix) + (session.context.get(prefix) === undefined ? 0 : 1);
    const end = next === undefined ? session.context.keys().length : session.context.indexOf(next);
    session.context.removeRange(start, end);
  }
  for (const row of context) {
    let scope = session.context.get(row.scope);
    if (scope === undefined) {
      scope = createSortedMap();
      session.context.set(row.scope, scope);
    }
    scope.set(row.key, row);
  }
}

export function readJournal(session: MemorySession, query: JournalQuery): JournalRow[] {
  const source = query.stepId === undefined ? session.journal : session.byStep.get(query.stepId);
  if (source === undefined) return [];
  const limit = pageLimit(query.limit);
  let skip = checkWhole("offset", query.offset ?? 0);
  const found: JournalRow[] = [];
  for (const position of positionsOf(source, query)) {
    const entry = source.get(position);
    if (entry === undefined || (query.settledOnly === true && entry.end === undefined)) continue;
    if (skip > 0) {
      skip -= 1;
      continue;
    }
    if (found.length >= limit) break;
    found.push(journalRow(position, entry.start, entry.end));
  }
  return found;
}

function* positionsOf(source: SortedMap<JournalEntry>, { ranges, order }: JournalQuery): Generator<string> {
  const keys = source.keys();
  const spans = (ranges ?? [undefined]).map((range) => ({
    start: range === undefined ? 0 : source.indexOf(range.from),
    end: range === undefined ? keys.length : source.indexOf(range.to),
  }));
  for (const { start, end } of order === "oldest" ? spans : spans.toReversed()) {
    for (let step = 0; step < end - start; step += 1) {
      const position = keys[order === "oldest" ? start + step : end - 1 - step];
      if (position !== undefined) yield position;
    }
  }
}

/** Rows of the scopes that begin with the prefix, after the given place: one more than `limit` says that more follow. */
export function readScopes(session: MemorySession, { prefix, after, limit }: ScopeRead): ContextRow[] {
  const rows: ContextRow[] = [];
  const scopes = session.context.keys();
  for (let at = session.context.indexOf(after?.scope ?? prefix); rows.length <= limit; at += 1) {
    const scope = scopes[at];
    if (scope === undefined || !scope.startsWith(prefix)) break;
    const values = session.context.get(scope);
    const keys = values?.keys() ?? [];
    const from = after?.scope === scope ? firstAfter(values, after.key) : 0;
    for (const key of keys.slice(from, from + limit + 1 - rows.length)) {
      const row = values?.get(key);
      if (row !== undefined) rows.push(contextRow(row));
    }
  }
  return rows;
}

export type ScopeRead = {
  readonly prefix: string;
  readonly after: { readonly scope: string; readonly key: string } | undefined;
  readonly limit: number;
};

function firstAfter(values: SortedMap<ContextText> | undefined, key: string): number {
  if (values === undefined) return 0;
  return values.indexOf(key) + (values.get(key) === undefined ? 0 : 1);
}

export function readScope(session: MemorySession, scope: string): ContextRow[] {
  const values = session.context.get(scope);
  return (values?.keys() ?? []).flatMap((key) => {
    const row = values?.get(key);
    return row === undefined ? [] : [contextRow(row)];
  });
}

export function sessionRecord(session: MemorySession): SessionRecord {
  const { core, cursor, planHash, input } = session.row;
  return {
    core: JSON.parse(core) as SessionCore,
    cursor: JSON.parse(cursor) as Json,
    ...(planHash === null ? {} : { planHash }),
    ...(input === null ? {} : { input: JSON.parse(input) as Json }),
    owner: session.owner,
    version: session.version,
  };
}

function contextRow({ scope, key, implicit, position, value }: ContextText): ContextRow {
  return {
    scope,
    key,
    ...(implicit ? { implicit } : {}),
    value:
      position === null ? { kind: "inline", value: JSON.parse(value ?? "null") as Json } : { kind: "output", position },
  };
}
