import {
  type ConversationMemory,
  type ConversationQuery,
  type ConversationContext,
  MIN_KEPT_MESSAGES,
  type RememberedMessage,
} from "../ports/conversation-memory.ts";
import { similarity } from "../ports/embedder.ts";

/** The conversation that was quiet longest is forgotten beyond this many. */
export const MAX_KEPT_CONVERSATIONS = 200;

/** Remembers conversations as long as the process lives. */
export function createConversationMemory(): ConversationMemory {
  const conversations = new Map<string, readonly RememberedMessage[]>();
  return {
    load: async (query) => contextFrom(conversations.get(keyOf(query)) ?? [], query),
    append: async (turn) => {
      const key = keyOf(turn);
      const messages = [...(conversations.get(key) ?? []), ...turn.messages].slice(-MIN_KEPT_MESSAGES);
      conversations.delete(key);
      conversations.set(key, messages);
      for (const quietest of conversations.keys()) {
        if (conversations.size <= MAX_KEPT_CONVERSATIONS) break;
        conversations.delete(quietest);
      }
    },
  };
}

/** What a query finds among messages, which are oldest first: for memories that have all of a session's at hand. */
export function contextFrom(
  messages: readonly RememberedMessage[],
  { embedding, recentLimit, matchLimit, minSimilarity }: ConversationQuery,
): ConversationContext {
  const matches = messages.flatMap(({ embedding: known, ...message }) => {
    const close = embedding === undefined || known === undefined ? undefined : similarity(known, embedding);
    return close !== undefined && close >= minSimilarity ? [{ ...message, similarity: close }] : [];
  });
  return {
    recentMessages: messages
      .slice(Math.max(0, messages.length - recentLimit))
      .map(({ role, content, at }) => ({ role, content, at })),
    semanticMatches: matches.sort((a, b) => b.similarity - a.similarity).slice(0, matchLimit),
  };
}

function keyOf({ owner, sessionId }: { readonly owner: string; readonly sessionId: string }): string {
  return JSON.stringify([owner, sessionId]);
}
