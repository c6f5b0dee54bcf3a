import { toErgonError } from "../../errors/ergon-error.ts";
import { isoTime, type Clock } from "../../ports/clock.ts";
import type { ConversationMemory, RememberedMessage } from "../../ports/conversation-memory.ts";
import type { Embedder, Embedding } from "../../ports/embedder.ts";
import { resultKey } from "../../plans/steps/tool-call.ts";
import type { JsonObject } from "../../schema/values/json.ts";
import type { SessionCore } from "../../schema/session.ts";
import { FINALIZE_TOOL } from "../compile-actions.ts";
import { composeSummary, findingsIn } from "./finalize-summary.ts";
import type { LoopTrace } from "./trace.ts";
import type { TurnSession } from "./turn-session.ts";

export type TurnMemoryParts = {
  readonly clock: Clock;
  readonly embedder: Embedder;
  readonly memory: ConversationMemory;
};

/** What a turn leaves in the conversation's memory. A memory that fails costs only the turns that follow. */
export type TurnMemory = {
  /** A turn that waited for a person when it was answered: by now it is known what came of it. */
  readonly rememberEnded: (session: Pick<TurnSession, "before" | "ended">) => Promise<void>;
  /** `answer` is undefined while the turn waits. */
  readonly remember: (turn: {
    readonly message: string;
    readonly embedding: Embedding | undefined;
    readonly answer: string | undefined;
  }) => Promise<void>;
};

export function createTurnMemory(
  { clock, embedder, memory }: TurnMemoryParts,
  turn: { readonly owner: string; readonly sessionId: string; readonly trace: LoopTrace },
): TurnMemory {
  const { owner, sessionId, trace } = turn;

  async function orWarn(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (thrown) {
      const reason = toErgonError(thrown, "memory_unavailable").message;
      trace.warn({ code: "memory_unavailable", message: `${what} was not remembered: ${reason}` });
    }
  }

  async function answerOf(content: string, at: string): Promise<RememberedMessage> {
    const [embedding] = await embedder.embed([content]);
    return { role: "assistant", content, at, ...(embedding && { embedding }) };
  }

  return {
    rememberEnded: async ({ before, ended }) => {
      if (ended === undefined || before["lastMessage"] === undefined) return;
      await orWarn("The end of the turn before", async () => {
        const newestOnly = { recentLimit: 1, matchLimit: 0, minSimilarity: 1 };
        const { recentMessages } = await memory.load({ owner, sessionId, ...newestOnly });
        const newest = recentMessages.at(-1);
        if (newest?.role !== "user" || newest.content !== before["lastMessage"]) return;
        const messages = [await answerOf(saidIn(before, ended), ended.updatedAt)];
        await memory.append({ owner, sessionId, messages });
      });
    },
    remember: async ({ message: content, embedding, answer }) => {
      const at = isoTime(clock);
      await orWarn("This turn", async () => {
        const user: RememberedMessage = { role: "user", content, at, ...(embedding && { embedding }) };
        const answers = answer === undefined ? [] : [await answerOf(answer, at)];
        await memory.append({ owner, sessionId, messages: [user, ...answers] });
      });
    },
  };
}

/** What a run left in its session, as the answer to the person. */
function saidIn(context: JsonObject, { status, lastError }: SessionCore): string {
  if (status !== "completed") return lastError?.message ?? `The run was ${status}.`;
  const summary = context[resultKey(FINALIZE_TOOL)];
  return typeof summary === "string" ? summary : composeSummary(findingsIn(context));
}
