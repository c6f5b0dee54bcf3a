import {
  Conversation,
  ConversationId,
  ConversationState,
  ConversationView,
  EnergyState,
  isRestful,
  MessageReceipt,
  NewMessage,
  noConversation,
} from "@ergon/core/schema";
import type { Conversations } from "@ergon/core/conversation";
import { z } from "zod";
import { type RequestContext, route, type Route } from "./server/route.ts";

export const ConversationParams = z.object({ id: ConversationId });
export const unknownConversation = ({ id = "" }: Readonly<Record<string, string>>): Error => noConversation(id);

const MAX_ROWS = 500;
const Page = z.strictObject({
  limit: z.coerce.number().int().min(1).max(MAX_ROWS).optional(),
  cursor: z.string().min(1).max(1_000).optional(),
});
const DEFAULT_ROWS = 100;

const Settled = MessageReceipt.extend({
  state: ConversationState,
  response: z.object({ id: z.string(), content: z.string(), by: z.string() }).optional(),
});

export function conversationRoutes(conversations: Conversations): readonly Route[] {
  return [
    route({
      method: "POST",
      path: "/message",
      operationId: "sendMessage",
      summary: "Say something: begins a conversation, or goes on with one",
      access: "agent",
      body: NewMessage,
      waits: true,
      isStart: true,
      answers: {
        202: { description: "Taken in; the answer comes by itself", schema: MessageReceipt },
        200: { description: "With Prefer: wait, what it came to", schema: Settled },
      },
      handle: async ({ body }, asker) => {
        const messageId = body.messageId ?? asker.start?.id;
        const named = messageId === undefined ? {} : { messageId };
        const receipt = await conversations.post({ ...body, ...named, owner: asker.owner });
        asker.logger.info({ ...receipt }, "A message was received.");
        if (asker.waitMs === undefined) return { status: 202, body: receipt };
        return await answered(receipt, asker);
      },
    }),
    route({
      method: "GET",
      path: "/conversations",
      operationId: "listConversations",
      summary: "Your conversations, newest first",
      access: "agent",
      query: Page,
      answers: {
        200: {
          description: "A page",
          schema: z.object({ items: z.array(Conversation), nextCursor: z.string().optional() }),
        },
      },
      handle: async ({ query: { limit = DEFAULT_ROWS, cursor } }, { owner }) => {
        const more = cursor === undefined ? {} : { cursor };
        return { status: 200, body: await conversations.list({ owner, limit, ...more }) };
      },
    }),
    route({
      method: "GET",
      path: "/conversations/:id",
      operationId: "readConversation",
      summary: "A conversation: what was said, done and thought, and what it cost",
      access: "agent",
      params: ConversationParams,
      unknown: unknownConversation,
      query: Page,
      waits: true,
      answers: { 200: { description: "With the newest entries, oldest first", schema: ConversationView } },
      handle: async ({ params: { id }, query: { limit, cursor } }, asker) => {
        const { owner, waitMs } = asker;
        if (waitMs !== undefined)
          await conversations.settled({ owner, id, timeoutMs: waitMs, signal: asker.dismissed() });
        const page = { ...(limit === undefined ? {} : { limit }), ...(cursor === undefined ? {} : { cursor }) };
        return { status: 200, body: await conversations.read({ owner, id, ...page }) };
      },
    }),
    route({
      method: "POST",
      path: "/conversations/:id/end",
      operationId: "endConversation",
      summary: "End a conversation; what is under way for it is stopped",
      access: "agent",
      params: ConversationParams,
      unknown: unknownConversation,
      body: z.strictObject({ reason: z.string().trim().min(1).max(500).optional() }),
      answers: { 200: { description: "The conversation as it ended", schema: Conversation } },
      handle: async ({ params: { id }, body }, { owner }) => {
        const { reason = `ended by ${owner}` } = body;
        return { status: 200, body: await conversations.end({ owner, id, reason }) };
      },
    }),
    route({
      method: "GET",
      path: "/energy",
      operationId: "readEnergy",
      summary: "The energy that conversations and the sub-agent live on",
      access: "agent",
      answers: { 200: { description: "The pool as it is now", schema: EnergyState } },
      handle: async () => ({ status: 200, body: await conversations.energy() }),
    }),
  ];

  async function answered(receipt: MessageReceipt, asker: RequestContext) {
    const { owner, waitMs = 0 } = asker;
    const ref = { owner, id: receipt.conversationId };
    const headers = { "preference-applied": `wait=${String(Math.ceil(waitMs / 1_000))}` };
    const { state } = await conversations.settled({ ...ref, timeoutMs: waitMs, signal: asker.dismissed() });
    if (!isRestful(state)) return { status: 202, headers, body: receipt };
    const { history } = await conversations.read(ref);
    const asked = history.findIndex(({ body }) => body.kind === "message" && body.id === receipt.messageId);
    const said = history.slice(asked + 1).find(({ body }) => body.kind === "response")?.body;
    const response = said?.kind === "response" ? { response: { id: said.id, content: said.content, by: said.by } } : {};
    return { status: 200, headers, body: { ...receipt, state, ...response } };
  }
}
