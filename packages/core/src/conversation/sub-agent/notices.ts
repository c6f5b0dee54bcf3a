import { isoTime, type Clock } from "../../ports/clock.ts";
import type { ConversationStore } from "../../ports/conversation-store.ts";
import type { ConversationRecord } from "../../schema/conversation.ts";
import type { JsonObject } from "../../schema/values/json.ts";
import type { Finding } from "./discovery.ts";
import type { Pool } from "../energy/pool.ts";
import { type Happened, heard, noted, unchanged } from "../step/progress.ts";
import { createServerNotes } from "./server-notes.ts";

/** A server's fall is told in so many conversations, those first in which something happened last. */
export const MAX_NOTED = 100;
/** A conversation in which nothing happened for longer than this is not open any more. */
export const OPEN_MS = 24 * 3_600_000;

/** Lines in conversations about what happened beside them; most ask for nothing. */
export type Notices = {
  /** In each open conversation: a server fell, or is back. */
  readonly server: (change: JsonObject) => void;
  /** In the conversation for which servers were searched or added. */
  readonly found: (finding: Finding) => void;
  /** Resolves once what came so far is written, or cannot be. */
  readonly settled: () => Promise<void>;
};

/** One after the other, so that they stand in the order in which things happened. */
export function createNotices(deps: {
  readonly conversations: Pick<ConversationStore, "open">;
  readonly pool: Pick<Pool, "commit">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onNoted: (record: ConversationRecord) => void;
  readonly onTrouble: (thrown: unknown) => void;
}): Notices {
  const { conversations, pool, clock, signal, onNoted, onTrouble } = deps;
  const sentence = createServerNotes();
  let writing: Promise<void> = Promise.resolve();
  return {
    server: (change) => {
      const text = sentence(change);
      if (text === undefined) return;
      inTurn(async () => {
        const since = new Date(clock.now() - OPEN_MS).toISOString();
        for (const { id } of await conversations.open({ since, limit: MAX_NOTED })) await note(id, text);
      });
    },
    found: (finding) => inTurn(() => note(finding.conversationId, finding.text, finding)),
    settled: () => writing,
  };

  function inTurn(write: () => Promise<void>): void {
    writing = writing.then(write).catch(onTrouble);
  }

  /** Whoever names another's conversation writes nothing into it. */
  async function note(id: string, text: string, { owner, takesUp }: Partial<Finding> = {}): Promise<void> {
    const become = (now: ConversationRecord): Happened => {
      if (owner !== undefined && now.owner !== owner) return unchanged(now);
      return takesUp === true && now.ended === undefined ? heard(now, text, isoTime(clock)) : noted(now, text);
    };
    const kept = await pool.commit(id, become, { signal });
    if (kept !== undefined) onNoted(kept);
  }
}
