import { type ActionResult, ActionResponse, type Json, type JsonObject } from "@ergon/core";
import { type CallerClient, keepSession, taken } from "./caller-client.ts";

/** Whose actions these are, in `agent_actions`. */
const AGENT = "mcp-loop";
/** So many of a session's newest actions are looked at for what they left. */
const RECALLED_ACTIONS = 20;
/** A larger result is not kept whole. */
const MAX_KEPT_CHARS = 64 * 1024;

/** What a session's actions did, kept in the project's `agent_actions`, for its next turns and for who looks later. */
export function createActionLog(client: CallerClient) {
  return {
    /** What earlier actions left for those that follow, by action, the newest of each. */
    recall: async (sessionId: string): Promise<JsonObject> => {
      const rows = taken(
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
    record: async (sessionId: string, results: readonly ActionResult[]): Promise<void> => {
      if (results.length === 0) return;
      await keepSession(client, sessionId);
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

/** As an object, whatever it was: the column's other values do not come back as they went in from every client. */
function bounded(output: Json): JsonObject {
  const { length } = JSON.stringify(output);
  if (length > MAX_KEPT_CHARS) return { truncated: true, chars: length };
  return typeof output === "object" && output !== null && !Array.isArray(output) ? (output as JsonObject) : { output };
}
