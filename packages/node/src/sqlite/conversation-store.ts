import {
  ConversationRecord,
  type ConversationStore,
  EnergyRow,
  entriesOf,
  EntryBody,
  type LoggedEntry,
  noConversation,
  pageLimit,
  pageOf,
  type PoolChange,
  sessionCursor,
  wantsSomething,
} from "@ergon/core";
import { z } from "zod";
import type { DatabaseSchema } from "./open-database.ts";
import { openSmallDatabase } from "./small-database.ts";

/** Conversations on a disk. Each message is synced before it is acknowledged. */
export function openSqliteConversationStore({ path }: { readonly path: string }): ConversationStore {
  const { all, run, acting, close } = openSmallDatabase({
    path,
    schema: SCHEMA,
    what: "conversation store",
    durable: true,
  });

  const find = (id: string): ConversationRecord | undefined =>
    all<RecordRow>("SELECT record FROM conversations WHERE id = ?", id).map(recordOf)[0];
  const keep = (record: ConversationRecord): void =>
    run(
      `INSERT INTO conversations (id, owner, record, wants) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT (id) DO UPDATE SET record = ?3, wants = ?4`,
      record.id,
      record.owner,
      JSON.stringify(record),
      wantsSomething(record) ? 1 : 0,
    );
  const nextSeq = (): number =>
    (all<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'log'")[0]?.seq ?? 0) + 1;
  const append = (
    { owner, conversationId, at, body }: Pick<LoggedEntry, "owner" | "conversationId" | "at" | "body">,
    { rows = [], level }: { readonly rows?: readonly EnergyRow[]; readonly level?: number | undefined } = {},
  ): void =>
    run(
      "INSERT INTO log (conversation, owner, at, body, energy, level) VALUES (?, ?, ?, ?, ?, ?)",
      conversationId,
      owner,
      at,
      JSON.stringify(body),
      JSON.stringify(rows),
      level ?? null,
    );
  const keepPool = (at: string, { owner, level, rows }: PoolChange): void => {
    run("INSERT INTO pool (one, level) VALUES (1, ?1) ON CONFLICT (one) DO UPDATE SET level = ?1", level);
    if (rows.length > 0) append({ owner, conversationId: "", at, body: { kind: "energy" } }, { rows, level });
  };

  return {
    receive: ({ owner, conversationId, messageId, content, at, decide }) =>
      acting("receiving a message", () => {
        const [before] = all<{ conversation: string }>(
          "SELECT conversation FROM received WHERE owner = ? AND id = ?",
          owner,
          messageId,
        );
        const told = before === undefined ? undefined : find(before.conversation);
        if (told !== undefined) return { record: told, messageId, isNew: false };
        const known = find(conversationId);
        if (known !== undefined && known.owner !== owner) throw noConversation(conversationId);
        const record = decide(known, nextSeq());
        append({ owner, conversationId, at, body: { kind: "message", id: messageId, content } });
        run("INSERT INTO received (owner, id, conversation) VALUES (?, ?, ?)", owner, messageId, conversationId);
        keep(record);
        return { record, messageId, isNew: true };
      }),
    change: (id, decide) =>
      acting("going on with a conversation", () => {
        const known = find(id);
        if (known === undefined) return undefined;
        const change = decide(known);
        const { record, at, pool } = change;
        keep(record);
        for (const { body, rows } of entriesOf(change))
          append({ owner: record.owner, conversationId: id, at, body }, { rows, level: pool?.level });
        if (pool !== undefined) keepPool(at, pool);
        return record;
      }),
    keepPool: (at, pool) => acting("writing energy down", () => keepPool(at, pool)),
    readLevel: () =>
      acting("reading the energy level", () => all<{ level: number }>("SELECT level FROM pool")[0]?.level),
    read: (id) => acting("reading a conversation", () => find(id)),
    list: ({ owner, cursor, limit: asked }) =>
      acting("listing conversations", () => {
        const limit = pageLimit(asked);
        const rows = all<RecordRow & { n: number }>(
          "SELECT n, record FROM conversations WHERE owner = ? AND n < ? + 0 ORDER BY n DESC LIMIT ? + 0",
          owner,
          sessionCursor(cursor) ?? Number.MAX_SAFE_INTEGER,
          limit + 1,
        );
        const page = pageOf(rows, limit, ({ n }) => String(n));
        return { ...page, items: page.items.map(recordOf) };
      }),
    wanting: (limit) =>
      acting("looking for conversations that wait", () =>
        all<RecordRow>("SELECT record FROM conversations WHERE wants = 1 ORDER BY n LIMIT ? + 0", limit).map(recordOf),
      ),
    open: ({ since, limit }) =>
      acting("looking for open conversations", () => all<RecordRow>(OPEN_SQL, since, pageLimit(limit)).map(recordOf)),
    entries: ({ id, before = Number.MAX_SAFE_INTEGER, limit }) =>
      acting("reading a conversation's entries", () =>
        all<LogRow>(
          "SELECT seq, at, body FROM log WHERE conversation = ? AND seq < ? + 0 ORDER BY seq DESC LIMIT ? + 0",
          id,
          before,
          pageLimit(limit),
        ).map(({ seq, at, body }) => ({ seq, at, body: EntryBody.parse(JSON.parse(body)) })),
      ),
    log: ({ afterSeq, limit }) =>
      acting("reading what is to be told", () =>
        all<LogRow>(
          `SELECT seq, conversation, owner, at, body, energy, level FROM log WHERE seq > ? + 0
           ORDER BY seq LIMIT ? + 0`,
          afterSeq,
          pageLimit(limit),
        ).map(({ seq, conversation, owner, at, body, energy, level }) => ({
          seq,
          conversationId: conversation,
          owner,
          at,
          body: EntryBody.parse(JSON.parse(body)),
          energy: EnergyRows.parse(JSON.parse(energy)),
          ...(level === null ? {} : { level }),
        })),
      ),
    forgetPool: (upToSeq) =>
      acting("forgetting what was told", () =>
        run("DELETE FROM log WHERE conversation = '' AND seq <= ? + 0", upToSeq),
      ),
    close,
  };
}

/** By the index of open conversations, whose expressions these are. */
const OPEN_SQL = `SELECT record FROM conversations
  WHERE record ->> '$.ended' IS NULL AND record ->> '$.updatedAt' >= ?
  ORDER BY record ->> '$.updatedAt' DESC, n DESC LIMIT ? + 0`;

type RecordRow = { readonly record: string };
type LogRow = {
  readonly seq: number;
  readonly conversation: string;
  readonly owner: string;
  readonly at: string;
  readonly body: string;
  readonly energy: string;
  readonly level: number | null;
};

const EnergyRows = z.array(EnergyRow);

/** Rows are parsed: what a later Ergon may have written must not pass for ours. */
function recordOf({ record }: RecordRow): ConversationRecord {
  return ConversationRecord.parse(JSON.parse(record));
}

const SCHEMA: DatabaseSchema = {
  // "Ergv"
  applicationId: 0x45726776,
  migrations: [
    {
      version: 1,
      sql: `
CREATE TABLE conversations (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL,
  record TEXT NOT NULL,
  wants INTEGER NOT NULL
) STRICT;
CREATE INDEX conversations_by_owner ON conversations (owner, n);
CREATE INDEX conversations_that_want ON conversations (n) WHERE wants = 1;

CREATE TABLE log (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  conversation TEXT NOT NULL,
  owner TEXT NOT NULL,
  at TEXT NOT NULL,
  body TEXT NOT NULL,
  energy TEXT NOT NULL,
  level REAL
) STRICT;
CREATE INDEX log_by_conversation ON log (conversation, seq);

CREATE TABLE received (
  owner TEXT NOT NULL,
  id TEXT NOT NULL,
  conversation TEXT NOT NULL,
  PRIMARY KEY (owner, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE pool (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  level REAL NOT NULL
) STRICT;
`,
    },
    {
      version: 2,
      sql: `
CREATE INDEX conversations_open ON conversations (record ->> '$.updatedAt', n) WHERE record ->> '$.ended' IS NULL;
`,
    },
  ],
};
