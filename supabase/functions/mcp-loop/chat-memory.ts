import type { ConversationMemory, RememberedMessage } from "@ergon/core";
import { type CallerClient, keepSession, taken } from "./caller-client.ts";

/**
 * A conversation in the project's own `chat_messages`, seen and written as the caller: row level security keeps
 * conversations apart, so a session id that is another person's is refused.
 */
export function createChatMemory(client: CallerClient): ConversationMemory {
  return {
    load: async ({ sessionId, embedding, recentLimit, matchLimit, minSimilarity }) => {
      const recent = taken(
        await client
          .from("chat_messages")
          .select("sender, message, created_at")
          .eq("session_id", sessionId)
          .order("id", { ascending: false })
          .limit(recentLimit),
      );
      const matches =
        embedding === undefined
          ? []
          : taken(
              await client.rpc("match_chat_messages", {
                in_session: sessionId,
                query_embedding: JSON.stringify(embedding.vector),
                query_model: embedding.model,
                min_similarity: minSimilarity,
                max_results: matchLimit,
              }),
            );
      return {
        recentMessages: recent.toReversed().map(messageOf),
        semanticMatches: matches.map((match) => ({ ...messageOf(match), similarity: match.similarity })),
      };
    },
    append: async ({ sessionId, messages }) => {
      await keepSession(client, sessionId);
      const rows = messages.map(({ role, content, at, embedding }) => ({
        session_id: sessionId,
        sender: role,
        message: content,
        created_at: at,
        ...(embedding === undefined
          ? {}
          : {
              embedding: JSON.stringify(embedding.vector),
              embedding_model: embedding.model,
              embedding_dimensions: embedding.dimension,
            }),
      }));
      taken(await client.from("chat_messages").insert(rows).select("id"));
    },
  };
}

type Row = { readonly sender: string; readonly message: string; readonly created_at: string };

function messageOf({ sender, message, created_at }: Row): Omit<RememberedMessage, "embedding"> {
  const role = sender === "user" ? "user" : "assistant";
  return { role, content: message, at: new Date(created_at).toISOString() };
}
