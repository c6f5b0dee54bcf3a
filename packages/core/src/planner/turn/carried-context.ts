import type { JsonObject } from "../../schema/values/json.ts";

/** Sessions whose context is carried to their next turn; the one that was quiet longest goes first. */
export const MAX_CARRIED_SESSIONS = 100;
/** A larger context is not carried: its owner keeps a store. */
export const MAX_CARRIED_CHARS = 64 * 1024;

export type CarriedContext = {
  readonly read: (owner: string, sessionId: string) => JsonObject;
  readonly write: (owner: string, sessionId: string, context: JsonObject) => void;
};

/** What a session's turn leaves for its next, where no store keeps it. */
export function createCarriedContext(): CarriedContext {
  const kept = new Map<string, string>();
  return {
    read: (owner, sessionId) => JSON.parse(kept.get(keyOf(owner, sessionId)) ?? "{}") as JsonObject,
    write: (owner, sessionId, context) => {
      const key = keyOf(owner, sessionId);
      const text = JSON.stringify(context);
      kept.delete(key);
      if (text.length <= MAX_CARRIED_CHARS) kept.set(key, text);
      for (const quietest of kept.keys()) {
        if (kept.size <= MAX_CARRIED_SESSIONS) break;
        kept.delete(quietest);
      }
    },
  };
}

function keyOf(owner: string, sessionId: string): string {
  return JSON.stringify([owner, sessionId]);
}
