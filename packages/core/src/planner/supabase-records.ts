// What a Supabase project keeps of the loop's turns: `chat_messages` and `agent_actions`, under `conversation_sessions`.
import { storeError } from "../errors/store.ts";
import type { ConversationMemory, RememberedMessage } from "../ports/conversation-memory.ts";
import { ActionResponse } from "../schema/action.ts";
import type { Json, JsonObject } from "../schema/values/json.ts";
import type { ActionResult } from "../schema/mcp-loop.ts";

/** Any client of supabase-js; row level security decides what it may see. */
export type SupabaseLike = { from(table: never): unknown; rpc(name: never, args: never): unknown };

/** Whose actions these are, in `agent_actions`. */
const AGENT = "mcp-loop";
/** So many of a session's newest actions are looked at for what they left. */
const RECALLED_ACTIONS = 20;
/** A larger result is not kept whole. */
const MAX_KEPT_CHARS = 64 * 1024;

export type SupabaseRights = {
  /** The client has the service's key, which sees the sessions of every person: those are refused here. */
  readonly asService?: boolean;
};

/** A conversation in the project's `chat_messages`. A session that belongs to another person is refused. */
export function createSupabaseMemory(given: SupabaseLike, rights: SupabaseRights = {}): ConversationMemory {
  const client = given as Client;
  return {
    load: async ({ sessionId, embedding, recentLimit, matchLimit, minSimilarity }) => {
      const recent = taken<MessageRow>(
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
          : taken<MessageRow & { readonly similarity: number }>(
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
      await keepSession(client, sessionId, rights);
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

export type SupabaseActionLog = {
  /** What earlier actions left for those that follow, by action, the newest of each. */
  readonly recall: (sessionId: string) => Promise<JsonObject>;
  readonly record: (sessionId: string, results: readonly ActionResult[]) => Promise<void>;
};

/** What a session's actions did, kept in the project's `agent_actions`. */
export function createSupabaseActionLog(given: SupabaseLike, rights: SupabaseRights = {}): SupabaseActionLog {
  const client = given as Client;
  return {
    recall: async (sessionId) => {
      const rows = taken<{ readonly response: unknown }>(
        await client
          .from("agent_actions")
          .select("response")
          .eq("session_id", sessionId)
          .eq("agent_name", AGENT)
          .eq("outcome", "success")
          .order("id", { ascending: false })
          .limit(RECALLED_ACTIONS),
      );
      const left = rows.toReversed().map(({ response }) => ActionResponse.safeParse(response).data);
      return Object.assign({}, ...left.map((one) => one?.dataForDownstreamPrompt ?? {})) as JsonObject;
    },
    record: async (sessionId, results) => {
      if (results.length === 0) return;
      await keepSession(client, sessionId, rights);
      const rows = results.map(({ tool, input, output, success, error }, at) => ({
        session_id: sessionId,
        agent_name: AGENT,
        action_type: tool,
        request: input,
        response: success ? bounded(output) : { success, error: error ?? "" },
        outcome: success ? "success" : "failure",
        step_index: at,
      }));
      taken(await client.from("agent_actions").insert(rows).select("id"));
    },
  };
}

/** Messages and actions belong to a session; the first of them makes it. */
async function keepSession(client: Client, sessionId: string, { asService }: SupabaseRights): Promise<void> {
  const rows = { onConflict: "id", ignoreDuplicates: true };
  const { error } = await client.from("conversation_sessions").upsert({ id: sessionId }, rows);
  if (error !== null) throw refused(error.message);
  const [found] = taken<{ readonly user_id: string | null }>(
    await client.from("conversation_sessions").select("id, user_id").eq("id", sessionId),
  );
  const isOwn = found !== undefined && (asService !== true || found.user_id === null);
  if (!isOwn) throw refused(`the session ${sessionId} is another person's`);
}

/** What the client uses of supabase-js. */
type Answer = PromiseLike<{ readonly data: unknown; readonly error: { readonly message: string } | null }>;
type Query = Answer & {
  select(columns: string): Query;
  eq(column: string, value: string): Query;
  order(column: string, options: { readonly ascending: boolean }): Query;
  limit(rows: number): Query;
  insert(rows: readonly object[]): Query;
  upsert(row: object, options: object): Query;
};
type Client = { from(table: string): Query; rpc(name: string, args: object): Answer };

type MessageRow = { readonly sender: string; readonly message: string; readonly created_at: string };

function messageOf({ sender, message, created_at }: MessageRow): Omit<RememberedMessage, "embedding"> {
  const role = sender === "user" ? "user" : "assistant";
  return { role, content: message, at: new Date(created_at).toISOString() };
}

/** As an object, whatever it was: the column's other values do not come back as they went in from every client. */
function bounded(output: Json): JsonObject {
  const { length } = JSON.stringify(output);
  if (length > MAX_KEPT_CHARS) return { truncated: true, chars: length };
  return typeof output === "object" && output !== null && !Array.isArray(output) ? (output as JsonObject) : { output };
}

function taken<Row>({ data, error }: Awaited<Answer>): readonly Row[] {
  if (error === null && Array.isArray(data)) return data as readonly Row[];
  throw refused(error?.message ?? "it answered nothing");
}

function refused(reason: string): Error {
  return storeError("store_unavailable", `The project's database: ${reason}.`);
}
