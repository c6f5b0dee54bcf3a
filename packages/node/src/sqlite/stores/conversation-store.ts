import { ConversationRecord, EnergyRow, EntryBody, type LoggedEntry, noConversation } from "@ergon/core/schema";
import {
  type ConversationStore,
  entriesOf,
  pageLimit,
  pageOf,
  type PoolChange,
  sessionCursor,
  wantsSomething,
} from "@ergon/core/store-kit";
import { z } from "zod";
import { openSmallStore, type StorePlace } from "./small-store.ts";

/** Conversations on a disk. Each message is synced before it is acknowledged. */
export function openSqliteConversationStore(place: StorePlace): ConversationStore {
  const { all, run, acting, reading, close } = openSmallStore(place, { what: "conversation store", durable: true });

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
    (all<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'conversation_log'")[0]?.seq ?? 0) + 1;
  const append = (
    { owner, conversationId, at, body }: Pick<LoggedEntry, "owner" | "conversationId" | "at" | "body">,
    { rows = [], level }: { readonly rows?: readonly EnergyRow[]; readonly level?: number | undefined } = {},
  ): void =>
    run(
      "INSERT INTO conversation_log (conversation, owner, at, body, energy, level) VALUES (?, ?, ?, ?, ?, ?)",
      conversationId,
      owner,
      at,
      JSON.stringify(body),
      JSON.stringify(rows),
      level ?? null,
    );
  const keepPool = (at: string, { owner, level, rows }: PoolChange): void => {
    run("INSERT INTO energy_pool (one, level) VALUES (1, ?1) ON CONFLICT (one) DO UPDATE SET level = ?1", level);
    if (rows.length > 0) append({ owner, conversationId: "", at, body: { kind: "energy" } }, { rows, level });
  };

  return {
    receive: ({ owner, conversationId, messageId, content, at, decide }) =>
      acting("receiving a message", () => {
        const [before] = all<{ conversation: string }>(
          "SELECT conversation FROM received_messages WHERE owner = ? AND id = ?",
          owner,
          messageId,
        );
        const told = before === undefined ? undefined : find(before.conversation);
        if (told !== undefined) return { record: told, messageId, isNew: false };
        const known = find(conversationId);
        if (known !== undefined && known.owner !== owner) throw noConversation(conversationId);
        const record = decide(known, nextSeq());
        append({ owner, conversationId, at, body: { kind: "message", id: messageId, content } });
        run(
          "INSERT INTO received_messages (owner, id, conversation) VALUES (?, ?, ?)",
          owner,
          messageId,
          conversationId,
        );
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
      reading("reading the energy level", () => all<{ level: number }>("SELECT level FROM energy_pool")[0]?.level),
    read: (id) => reading("reading a conversation", () => find(id)),
    list: ({ owner, cursor, limit: asked }) =>
      reading("listing conversations", () => {
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
      reading("looking for conversations that wait", () =>
        all<RecordRow>("SELECT record FROM conversations WHERE wants = 1 ORDER BY n LIMIT ? + 0", limit).map(recordOf),
      ),
    open: ({ since, limit }) =>
      reading("looking for open conversations", () => all<RecordRow>(OPEN_SQL, since, pageLimit(limit)).map(recordOf)),
    entries: ({ id, before = Number.MAX_SAFE_INTEGER, limit }) =>
      reading("reading a conversation's entries", () =>
        all<LogRow>(
          "SELECT seq, at, body FROM conversation_log WHERE conversation = ? AND seq < ? + 0 ORDER BY seq DESC LIMIT ? + 0",
          id,
          before,
          pageLimit(limit),
        ).map(({ seq, at, body }) => ({ seq, at, body: EntryBody.parse(JSON.parse(body)) })),
      ),
    log: ({ afterSeq, limit }) =>
      reading("reading what is to be told", () =>
        all<LogRow>(
          `SELECT seq, conversation, owner, at, body, energy, level FROM conversation_log WHERE seq > ? + 0
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
        run("DELETE FROM conversation_log WHERE conversation = '' AND seq <= ? + 0", upToSeq),
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
