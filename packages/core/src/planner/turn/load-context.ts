import type { ConversationContext, ConversationMemory, RecentMessage } from "../../ports/conversation-memory.ts";
import type { Embedder, Embedding } from "../../ports/embedder.ts";
import type { Json, JsonObject } from "../../schema/values/json.ts";
import type { MCPRequest } from "../../schema/mcp-loop.ts";
import { DEFAULT_OWNER } from "../../tools/spec-tool.ts";
import { createSupabaseMemory, type SupabaseLike } from "../supabase-records.ts";
import type { LoopTrace } from "./trace.ts";

export const RECENT_MESSAGES = 10;
const SEMANTIC_MATCHES = 3;
/** Sentence encoders put paraphrases at about 0.4; what lies below says nothing. */
const MIN_SIMILARITY = 0.35;

export type LoadedContext = {
  readonly embeddedMessage?: Embedding;
  readonly conversation: ConversationContext;
  /** Spec 1's keys, then the caller's. */
  readonly context: JsonObject;
};

/** Spec 1's first step. Best-effort: what cannot be loaded is a warning, and the run goes on without it. */
export async function loadContext(parts: {
  readonly request: MCPRequest;
  readonly message: string;
  readonly owner: string;
  readonly embedder: Embedder;
  readonly memory: ConversationMemory;
  readonly trace: LoopTrace;
  readonly signal: AbortSignal | undefined;
}): Promise<LoadedContext> {
  const { request, message, owner, memory, trace } = parts;
  const { sessionId } = request;
  const embeddedMessage = await embedOrWarn(parts);
  const conversation = await getConversationContext(memory, sessionId, embeddedMessage, { owner }).catch(
    (thrown: unknown): ConversationContext => {
      trace.warn({ code: "memory_unavailable", message: `Earlier messages could not be loaded: ${reasonOf(thrown)}` });
      return { recentMessages: [], semanticMatches: [] };
    },
  );
  const recentMessages = withRequested(conversation.recentMessages, request);
  const found = { ...conversation, recentMessages };
  const context = {
    ...(embeddedMessage === undefined ? {} : { embeddedMessage: embeddedMessage as unknown as Json }),
    recentMessages: recentMessages as unknown as Json,
    semanticMatches: found.semanticMatches as unknown as Json,
    sessionId,
    mode: request.mode,
    lastMessage: message,
    ...request.context,
  };
  return { ...(embeddedMessage === undefined ? {} : { embeddedMessage }), conversation: found, context };
}

/** Spec 1's name for what a session remembers: in a Supabase project, or in a memory of the program's own. */
export async function getConversationContext(
  from: ConversationMemory | SupabaseLike,
  sessionId: string,
  embedding?: Embedding,
  { owner = DEFAULT_OWNER }: { readonly owner?: string } = {},
): Promise<ConversationContext> {
  const memory = "load" in from ? from : createSupabaseMemory(from);
  return memory.load({
    owner,
    sessionId,
    ...(embedding === undefined ? {} : { embedding }),
    recentLimit: RECENT_MESSAGES,
    matchLimit: SEMANTIC_MATCHES,
    minSimilarity: MIN_SIMILARITY,
  });
}

async function embedOrWarn({
  embedder,
  message,
  trace,
  signal,
}: Pick<Parameters<typeof loadContext>[0], "embedder" | "message" | "trace" | "signal">): Promise<
  Embedding | undefined
> {
  try {
    const [embedding] = await embedder.embed([message], signal === undefined ? {} : { signal });
    return embedding;
  } catch (thrown) {
    trace.warn({ code: "embedder_unavailable", message: `The message was not embedded: ${reasonOf(thrown)}` });
    return undefined;
  }
}

/** A caller that keeps the chat itself sends it along; what memory has already is not said twice. */
function withRequested(remembered: readonly RecentMessage[], { messages }: MCPRequest): readonly RecentMessage[] {
  const known = new Set(remembered.map(({ role, content }) => `${role} ${content}`));
  const sent = messages.slice(0, -1).flatMap(({ role, content }): RecentMessage[] => {
    if (role === "system" || content.trim() === "" || known.has(`${role} ${content}`)) return [];
    return [{ role, content, at: "" }];
  });
  return [...sent, ...remembered].slice(-RECENT_MESSAGES);
}

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
