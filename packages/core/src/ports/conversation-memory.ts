import type { Embedding } from "./embedder.ts";

/*
 * What was said in a session, kept for the turns that follow.
 *
 * C1  What one owner's session holds, another never sees, whatever its id.
 * C2  `recentMessages` are the newest, oldest first. `semanticMatches` are those that mean what is asked, the
 *     closest first, each at least `minSimilarity` close; vectors of another model or dimension are not compared.
 * C3  A session keeps at least its newest `MIN_KEPT_MESSAGES`; older ones may be forgotten.
 */
export type ConversationMemory = {
  load(query: ConversationQuery): Promise<ConversationContext>;
  append(turn: ConversationTurn): Promise<void>;
};

export type RememberedMessage = {
  readonly role: "user" | "assistant";
  readonly content: string;
  readonly at: string;
  readonly embedding?: Embedding;
};

export type ConversationTurn = {
  readonly owner: string;
  readonly sessionId: string;
  readonly messages: readonly RememberedMessage[];
};

export type ConversationQuery = {
  readonly owner: string;
  readonly sessionId: string;
  /** Without one there are no semantic matches. */
  readonly embedding?: Embedding;
  readonly recentLimit: number;
  readonly matchLimit: number;
  readonly minSimilarity: number;
};

export type RecentMessage = Omit<RememberedMessage, "embedding">;
export type SemanticMatch = RecentMessage & { readonly similarity: number };

export type ConversationContext = {
  readonly recentMessages: readonly RecentMessage[];
  readonly semanticMatches: readonly SemanticMatch[];
};

export const MIN_KEPT_MESSAGES = 50;
