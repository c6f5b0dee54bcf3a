import { type Logger, toErgonError } from "@ergon/core";
import type { ActionResult } from "@ergon/core/schema";
import type { ConversationMemory } from "@ergon/core/store-kit";
import { createSupabaseActionLog, createSupabaseMemory, type SupabaseLike } from "@ergon/core/planner";

/** The loop's turns as a Supabase project keeps them: `chat_messages` and `agent_actions`. */
export type TurnRecorder = {
  /** The same memory; what is appended goes to the project, too. */
  readonly around: <Memory extends ConversationMemory>(memory: Memory) => Memory;
  readonly actions: (sessionId: string, results: readonly ActionResult[]) => void;
  /** Waits for what is not written yet, a bounded time. */
  readonly flush: () => Promise<void>;
};

/** Writes that wait for a slow project; what comes beyond them is dropped, with a warning. */
export const MAX_WAITING_WRITES = 100;
const FLUSH_MS = 10_000;

/**
 * Best-effort and in the background: no turn waits for the project or fails with it. Writes go out in their order. The
 * data folder stays what Ergon itself reads.
 */
export function createTurnRecorder(client: SupabaseLike, logger: Logger): TurnRecorder {
  const rights = { asService: true };
  const messages = createSupabaseMemory(client, rights);
  const log = createSupabaseActionLog(client, rights);
  let last: Promise<void> = Promise.resolve();
  let waiting = 0;
  const write = (table: string, act: () => Promise<void>): void => {
    if (waiting >= MAX_WAITING_WRITES) {
      logger.warn({ table }, "The Supabase project is slow: a turn was not recorded there.");
      return;
    }
    waiting += 1;
    last = last
      .then(act)
      .catch((thrown: unknown) => {
        const error = toErgonError(thrown, "store_unavailable").toJSON();
        logger.warn(
          { table, error },
          "The Supabase project did not record a turn. Check its tables against supabase/migrations.",
        );
      })
      .finally(() => (waiting -= 1));
  };
  return {
    around: (memory) => ({
      ...memory,
      append: async (turn) => {
        await memory.append(turn);
        write("chat_messages", () => messages.append(turn));
      },
    }),
    actions: (sessionId, results) => {
      if (results.length > 0) write("agent_actions", () => log.record(sessionId, results));
    },
    flush: async () => {
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, FLUSH_MS);
      await Promise.race([last, late]);
      clearTimeout(timer);
    },
  };
}
