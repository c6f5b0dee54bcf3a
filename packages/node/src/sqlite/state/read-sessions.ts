import type { Json, SessionCore } from "@ergon/core";
import {
  type ContextRow,
  type Page,
  pageLimit,
  pageOf,
  scopeCursor,
  sessionCursor,
  type SessionQuery,
  type SessionRecord,
  writeScopeCursor,
} from "@ergon/core/store-kit";
import type { Reader } from "../database/reader.ts";

export function readSession({ all }: Reader, id: string): SessionRecord | undefined {
  const [row] = all<SessionColumns>(`${SELECT_SESSION} WHERE s.id = ?`, id);
  return row === undefined ? undefined : sessionRecord(row);
}

/** By creation, which no later write moves: pages stay where they are while sessions change. */
export function listSessions({ all }: Reader, query: SessionQuery): Page<SessionRecord> {
  const limit = pageLimit(query.limit);
  const after = sessionCursor(query.cursor);
  const newest = query.order !== "oldest";
  if (query.status?.length === 0) return { items: [] };
  const conditions = [
    ...(query.owner === undefined ? [] : ["s.owner = ?"]),
    ...(query.status === undefined ? [] : [`s.status IN (${query.status.map(() => "?").join(", ")})`]),
    ...(query.runId === undefined ? [] : ["s.n IN (SELECT session_n FROM runs WHERE id = ?)"]),
    ...(after === undefined ? [] : [newest ? "s.n < ?" : "s.n > ?"]),
  ];
  const values = [
    ...(query.owner === undefined ? [] : [query.owner]),
    ...(query.status ?? []),
    ...(query.runId === undefined ? [] : [query.runId]),
    ...(after === undefined ? [] : [after]),
  ];
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  const rows = all<SessionColumns>(
    `${SELECT_SESSION} ${where} ORDER BY s.n ${newest ? "DESC" : "ASC"} LIMIT ? + 0`,
    ...values,
    limit + 1,
  );
  const { items, nextCursor } = pageOf(rows, limit, ({ n }) => String(n));
  return { items: items.map(sessionRecord), ...(nextCursor === undefined ? {} : { nextCursor }) };
}

export function readContext({ all }: Reader, n: number, scopes: readonly string[]): ContextRow[] {
  return [...new Set(scopes)].flatMap((scope) =>
    all<ContextColumns>(`${SELECT_CONTEXT} AND scope = ? ORDER BY key`, n, scope).map(contextRow),
  );
}

export type ScopeQuery = { readonly scopePrefix: string; readonly cursor?: string; readonly limit: number };

export function readScopes({ all }: Reader, n: number, query: ScopeQuery): Page<ContextRow> {
  const limit = pageLimit(query.limit);
  const after = query.cursor === undefined ? undefined : scopeCursor(query.cursor);
  const rows =
    after === undefined
      ? all<ContextColumns>(
          `${SELECT_CONTEXT} AND scope >= ? ORDER BY scope, key LIMIT ? + 0`,
          n,
          query.scopePrefix,
          limit + 1,
        )
      : all<ContextColumns>(
          `${SELECT_CONTEXT} AND (scope, key) > (?, ?) ORDER BY scope, key LIMIT ? + 0`,
          n,
          after.scope,
          after.key,
          limit + 1,
        );
  // Scopes with the prefix stand together; the first without it ends them.
  const end = rows.findIndex(({ scope }) => !scope.startsWith(query.scopePrefix));
  return pageOf((end < 0 ? rows : rows.slice(0, end)).map(contextRow), limit, ({ scope, key }) =>
    writeScopeCursor(scope, key),
  );
}

const SELECT_SESSION = `SELECT s.n, s.owner, s.version, s.core, s.frames AS cursor, i.plan_hash, i.input
  FROM sessions s LEFT JOIN session_inputs i ON i.session_n = s.n`;
const SELECT_CONTEXT = "SELECT scope, key, implicit, ord AS position, value FROM context WHERE session_n = ?";

type SessionColumns = {
  readonly n: number;
  readonly owner: string;
  readonly version: number;
  readonly core: string;
  readonly cursor: string;
  readonly plan_hash: string | null;
  readonly input: string | null;
};

type ContextColumns = {
  readonly scope: string;
  readonly key: string;
  readonly implicit: number;
  readonly position: string | null;
  readonly value: string | null;
};

function sessionRecord(row: SessionColumns): SessionRecord {
  return {
    core: JSON.parse(row.core) as SessionCore,
    cursor: JSON.parse(row.cursor) as Json,
    ...(row.plan_hash === null ? {} : { planHash: row.plan_hash }),
    ...(row.input === null ? {} : { input: JSON.parse(row.input) as Json }),
    owner: row.owner,
    version: row.version,
  };
}

function contextRow({ scope, key, implicit, position, value }: ContextColumns): ContextRow {
  return {
    scope,
    key,
    ...(implicit === 1 ? { implicit: true } : {}),
    value:
      position === null ? { kind: "inline", value: JSON.parse(value ?? "") as Json } : { kind: "output", position },
  };
}
