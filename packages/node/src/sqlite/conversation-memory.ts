import type { DatabaseSync } from "node:sqlite";
import { contextFrom, type ConversationMemory, type Embedding, type RememberedMessage } from "@ergon/core";
import { type DatabaseSchema, openDatabase } from "./open-database.ts";
import { fromSqlite } from "./sqlite-errors.ts";

/** A session keeps this many messages; older ones are forgotten. */
export const MAX_REMEMBERED = 1_000;

export type SqliteConversationMemory = ConversationMemory & { readonly close: () => void };

/** Conversations in a database of their own, beside the state: losing it costs memory, never work. */
export function openConversationMemory({ path }: { readonly path: string }): SqliteConversationMemory {
  const db = openDatabase({ path, schema: SCHEMA });
  const insert = db.prepare(
    "INSERT INTO chat_messages (owner, session, role, content, at, model, dimension, vector) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const forget = db.prepare(
    `DELETE FROM chat_messages WHERE owner = ?1 AND session = ?2 AND n <=
      (SELECT n FROM chat_messages WHERE owner = ?1 AND session = ?2 ORDER BY n DESC LIMIT 1 OFFSET ${String(MAX_REMEMBERED)})`,
  );
  const read = db.prepare(
    "SELECT role, content, at, model, dimension, vector FROM chat_messages WHERE owner = ? AND session = ? ORDER BY n",
  );
  return {
    load: async (query) =>
      guarded("reading a conversation", () =>
        contextFrom(read.all(query.owner, query.sessionId).map(messageOf), query),
      ),
    append: async ({ owner, sessionId, messages }) =>
      guarded("remembering a message", () => {
        db.exec("BEGIN IMMEDIATE");
        try {
          for (const { role, content, at, embedding } of messages) {
            const { model = null, dimension = null } = embedding ?? {};
            insert.run(owner, sessionId, role, content, at, model, dimension, bytesOf(embedding));
          }
          forget.run(owner, sessionId);
          db.exec("COMMIT");
        } catch (thrown) {
          rollBack(db);
          throw thrown;
        }
      }),
    close: () => {
      if (db.isOpen) db.close();
    },
  };
}

const SCHEMA: DatabaseSchema = {
  // "ErgC"
  applicationId: 0x45726743,
  migrations: [
    {
      version: 1,
      sql: `
CREATE TABLE chat_messages (
  n INTEGER PRIMARY KEY,
  owner TEXT NOT NULL,
  session TEXT NOT NULL,
  role TEXT NOT NULL,
  content TEXT NOT NULL,
  at TEXT NOT NULL,
  model TEXT,
  dimension INTEGER,
  vector BLOB
) STRICT;
CREATE INDEX chat_messages_by_session ON chat_messages (owner, session, n);
`,
    },
  ],
};

function messageOf(row: Record<string, unknown>): RememberedMessage {
  const { role, content, at, model, dimension, vector } = row;
  const message = { role: role === "user" ? "user" : "assistant", content: String(content), at: String(at) } as const;
  if (typeof model !== "string" || !(vector instanceof Uint8Array)) return message;
  const floats = new Float32Array(vector.slice().buffer);
  return { ...message, embedding: { model, dimension: Number(dimension), vector: [...floats] } };
}

function bytesOf(embedding: Embedding | undefined): Uint8Array | null {
  return embedding === undefined ? null : new Uint8Array(Float32Array.from(embedding.vector).buffer);
}

function guarded<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw fromSqlite(thrown, what);
  }
}

function rollBack(db: DatabaseSync): void {
  if (db.isOpen && db.isTransaction) db.exec("ROLLBACK");
}
