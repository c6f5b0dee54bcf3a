import { conversationError, noConversation } from "../errors/conversation.ts";
import { isErgonError } from "../errors/ergon-error.ts";
import { usageError } from "../errors/usage.ts";
import type { EnergyRegulator } from "../energy/regulator.ts";
import { isoTime, type Clock } from "../ports/clock.ts";
import type { ConversationRef, Conversations } from "../ports/conversations.ts";
import type { ConversationStore } from "../ports/conversation-store.ts";
import type { Ids } from "../ports/ids.ts";
import {
  type Conversation,
  type ConversationRecord,
  isRestful,
  MAX_REASON_CHARS,
  NewMessage,
} from "../schema/conversation.ts";
import type { EmbeddedEngine } from "../plans/engine/engine.ts";
import { budgetOf } from "./energy/budget.ts";
import { ended, received } from "./step/progress.ts";
import type { SensitiveLoop } from "./loop/sensitive-loop.ts";

const DEFAULT_HISTORY = 200;

export type ConversationsDeps = {
  readonly store: ConversationStore;
  readonly loop: SensitiveLoop;
  readonly regulator: EnergyRegulator;
  readonly engine: Pick<EmbeddedEngine, "cancel">;
  readonly ids: Ids;
  readonly clock: Clock;
};

/** Takes messages in and shows what became of them; never waits for the loop unless it is asked to. */
export function createConversations({ store, loop, regulator, engine, ids, clock }: ConversationsDeps): Conversations {
  return {
    post: async ({ owner, ...given }) => {
      const message = readMessage(given);
      const { conversationId = ids.next("conv"), messageId = ids.next("msg"), content, energyBudget } = message;
      const at = isoTime(clock);
      const receipt = await store.receive({
        owner,
        conversationId,
        messageId,
        content,
        at,
        decide: (known, seq) => {
          if (known === undefined && message.conversationId !== undefined) throw noConversation(conversationId);
          if (known?.pending === undefined && loop.isFull()) throw full();
          const budget = energyBudget === undefined ? {} : { energyBudget };
          return received(known, { id: conversationId, owner, content, seq, at, ...budget });
        },
      });
      if (receipt.isNew) loop.notice(receipt.record);
      // Whoever follows its events next must find them.
      if (message.conversationId === undefined) await loop.told();
      return { conversationId: receipt.record.id, messageId: receipt.messageId };
    },
    read: async ({ limit = DEFAULT_HISTORY, cursor, ...ref }) => {
      const record = await recordOf(ref);
      const before = cursor === undefined ? {} : { before: entryCursor(cursor) };
      const found = await store.entries({ id: ref.id, limit: limit + 1, ...before });
      const history = found.slice(0, limit).reverse();
      const [oldest] = history;
      const more = found.length > limit && oldest !== undefined ? { nextCursor: String(oldest.seq) } : {};
      return { conversation: shown(record), history, ...more };
    },
    list: async (query) => {
      const { items, ...rest } = await store.list(query);
      return { ...rest, items: items.map(shown) };
    },
    end: async ({ reason, ...ref }) => {
      const at = isoTime(clock);
      await recordOf(ref);
      const kept = await store.change(ref.id, (record) => {
        if (record.ended !== undefined)
          throw conversationError("conversation_ended", `Conversation ${ref.id} has ended already.`);
        return { ...ended(record, reason.slice(0, MAX_REASON_CHARS), at), at };
      });
      if (kept === undefined) throw noConversation(ref.id);
      loop.notice(kept);
      await stopRun(ref);
      return shown(kept);
    },
    settled: async ({ timeoutMs, signal, ...ref }) => {
      const deadlineMs = clock.monotonic() + timeoutMs;
      for (;;) {
        const { promise: change, resolve } = Promise.withResolvers<void>();
        const stop = loop.onChange(({ id }) => {
          if (id === ref.id) resolve();
        });
        const timer = clock.after(Math.min(LOOK_MS, Math.max(0, deadlineMs - clock.monotonic())), resolve);
        signal?.addEventListener("abort", () => resolve(), { once: true });
        try {
          const conversation = shown(await recordOf(ref));
          const isOver = clock.monotonic() >= deadlineMs || signal?.aborted === true;
          if (isRestful(conversation.state) || isOver) return conversation;
          await change;
        } finally {
          stop();
          timer();
        }
      }
    },
    energy: async () => regulator.state(),
    status: async () => loop.status(),
  };

  async function recordOf({ owner, id }: ConversationRef): Promise<ConversationRecord> {
    const record = await store.read(id);
    if (record === undefined || record.owner !== owner) throw noConversation(id);
    return record;
  }

  function shown(record: ConversationRecord): Conversation {
    const { owner: _whose, work: _inside, pending: _owed, lastMessage: _place, reviewed: _looked, ...rest } = record;
    const { state, waiting } = loop.stateOf(record);
    const budget = budgetOf(record);
    return {
      ...rest,
      state,
      ...(budget === undefined ? {} : { budgetStatus: budget.status }),
      ...(waiting === undefined ? {} : { waiting: [...waiting] }),
    };
  }

  /** Its tools end with it; there may be none. */
  async function stopRun({ owner, id: sessionId }: ConversationRef): Promise<void> {
    try {
      await engine.cancel({ owner, sessionId });
    } catch (thrown) {
      if (!isErgonError(thrown) || !NOTHING_RUNS.has(thrown.code)) throw thrown;
    }
  }
}

/** Who waits for a person is told by no change of the conversation itself: looked at this often. */
const LOOK_MS = 500;
const NOTHING_RUNS = new Set(["session_ended", "session_not_found"]);

function readMessage(given: unknown): NewMessage {
  const parsed = NewMessage.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw usageError("input_invalid", `The message cannot be taken: ${issue?.message ?? "it cannot be read"}`, {
    details: {
      issues: parsed.error.issues.map(({ path, code, message }) => ({ path: path.join("/"), code, message })),
    },
  });
}

function entryCursor(cursor: string): number {
  if (/^[1-9][0-9]{0,14}$/.test(cursor)) return Number(cursor);
  throw usageError("input_invalid", "This cursor is not one that was given. Start again without it.");
}

function full(): Error {
  return conversationError("conversations_full", "Too many conversations wait for an answer; try again later.", {
    retryable: true,
  });
}
