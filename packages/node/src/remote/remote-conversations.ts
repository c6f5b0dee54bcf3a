import {
  Conversation,
  ConversationView,
  EnergyState,
  isRestful,
  MessageReceipt,
  ConversationsStatus,
} from "@ergon/core/schema";
import type { ConversationRef, Conversations } from "@ergon/core/conversation";
import { z } from "zod";
import { conversationPath } from "./paths.ts";
import { callRemote, readJson, type RemoteRequest, type RemoteTarget } from "./remote-call.ts";

const Listed = z.object({ items: z.array(Conversation), nextCursor: z.string().exactOptional() });
const Stats = z.object({ conversations: ConversationsStatus });
/** The server waits no longer than this for one request; who wants to wait longer asks again. */
const WAIT_SECONDS = 20;

/** Conversations, as whoever owns the data folder has them. */
export function createRemoteConversations(target: RemoteTarget, self: string): Conversations {
  const ask = async (request: RemoteRequest): Promise<unknown> => readJson(await callRemote(target, request));
  const view = async ({ owner, id }: ConversationRef, more: Partial<RemoteRequest> = {}): Promise<ConversationView> =>
    ConversationView.parse(await ask({ owner, path: conversationPath(id), ...more }));
  return {
    post: async ({ owner, ...body }) =>
      MessageReceipt.parse(await ask({ owner, method: "POST", path: "/message", body })),
    read: ({ limit, cursor, ...ref }) => view(ref, { query: { limit: limit?.toString(), cursor } }),
    list: async ({ owner, limit, cursor }) =>
      Listed.parse(await ask({ owner, path: "/conversations", query: { limit: String(limit), cursor } })),
    end: async ({ owner, id, reason }) => {
      const path = `${conversationPath(id)}/end`;
      return Conversation.parse(await ask({ owner, method: "POST", path, body: { reason } }));
    },
    settled: async ({ timeoutMs, signal, ...ref }) => {
      const deadlineMs = performance.now() + timeoutMs;
      for (;;) {
        const leftMs = Math.max(0, deadlineMs - performance.now());
        const seconds = Math.min(WAIT_SECONDS, Math.ceil(leftMs / 1_000));
        const { conversation } = await view(ref, {
          query: { limit: "1" },
          ...(seconds === 0 ? {} : { headers: { prefer: `wait=${String(seconds)}` } }),
          ...(signal === undefined ? {} : { signal }),
        });
        const isOver = performance.now() >= deadlineMs || signal?.aborted === true;
        if (isOver || isRestful(conversation.state)) return conversation;
      }
    },
    energy: async () => EnergyState.parse(await ask({ owner: self, path: "/energy" })),
    status: async () => Stats.parse(await ask({ owner: self, path: "/stats" })).conversations,
  };
}
