import type { Embedding } from "@ergon/core";
import { contextFrom, type ConversationMemory, type RememberedMessage } from "@ergon/core/store-kit";
import { openSmallStore, type StorePlace } from "./small-store.ts";

/** A session keeps this many messages; older ones are forgotten. */
export const MAX_REMEMBERED = 1_000;

export type SqliteConversationMemory = ConversationMemory & { readonly close: () => Promise<void> };

/** What was said in conversations, with its vectors. */
export function openConversationMemory(place: StorePlace): SqliteConversationMemory {
  const { all, run, acting, reading, close } = openSmallStore(place, { what: "conversation memory" });
  return {
    load: (query) =>
      reading("reading a conversation", () =>
        contextFrom(all<Record<string, unknown>>(READ, query.owner, query.sessionId).map(messageOf), query),
      ),
    append: ({ owner, sessionId, messages }) =>
      acting("remembering a message", () => {
        for (const { role, content, at, embedding } of messages) {
          const { model = null, dimension = null } = embedding ?? {};
          run(INSERT, owner, sessionId, role, content, at, model, dimension, bytesOf(embedding));
        }
        run(FORGET, owner, sessionId);
      }),
    close,
  };
}

const INSERT = `INSERT INTO chat_messages (owner, session, role, content, at, model, dimension, vector)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
const FORGET = `DELETE FROM chat_messages WHERE owner = ?1 AND session = ?2 AND n <=
  (SELECT n FROM chat_messages WHERE owner = ?1 AND session = ?2 ORDER BY n DESC LIMIT 1 OFFSET ${String(MAX_REMEMBERED)})`;
const READ = `SELECT role, content, at, model, dimension, vector FROM chat_messages
  WHERE owner = ? AND session = ? ORDER BY n`;

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
