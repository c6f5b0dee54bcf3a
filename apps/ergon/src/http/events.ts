import { usageError } from "@ergon/core/schema";
import { AFTER_HEADER } from "@ergon/node";
import { z } from "zod";
import { ConversationParams, unknownConversation } from "./conversations.ts";
import type { EventStreams } from "./server/event-streams.ts";
import type { HttpParts } from "./server/http-parts.ts";
import { type Answer, type RequestContext, route, type Route } from "./server/route.ts";
import { noSession, SessionParams } from "./sessions.ts";

const Query = z.strictObject({
  after: z
    .union([z.literal("now"), z.coerce.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER)])
    .optional()
    .describe("the sequence number to begin behind, for clients that cannot send Last-Event-ID"),
});
const ANSWERS = {
  200: {
    description: "Server-sent events; id is the sequence number",
    schema: z.string(),
    mediaType: "text/event-stream",
  },
};

type Parts = Pick<HttpParts, "engine" | "outbox" | "conversations"> & { readonly streams: EventStreams };

export function eventRoutes({ engine, outbox, conversations, streams }: Parts): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/sessions/:id/events",
      operationId: "followSession",
      summary: "A session's events from its beginning, then live",
      access: "agent",
      params: SessionParams,
      unknown: noSession,
      query: Query,
      answers: ANSWERS,
      handle: async ({ params, query }, asker) => {
        await engine.settled({ owner: asker.owner, sessionId: params.id, timeoutMs: 0 });
        return await stream(asker, query.after ?? 0, params.id);
      },
    }),
    route({
      method: "GET",
      path: "/conversations/:id/events",
      operationId: "followConversation",
      summary: "A conversation's events from its beginning, its tools' steps included, then live",
      access: "agent",
      params: ConversationParams,
      unknown: unknownConversation,
      query: Query,
      answers: ANSWERS,
      handle: async ({ params, query }, asker) => {
        await conversations.settled({ owner: asker.owner, id: params.id, timeoutMs: 0 });
        return await stream(asker, query.after ?? 0, params.id);
      },
    }),
    route({
      method: "GET",
      path: "/events",
      operationId: "followAll",
      summary: "Events of all your sessions, live",
      access: "agent",
      query: Query,
      answers: ANSWERS,
      handle: ({ query }, asker) => stream(asker, query.after ?? "now"),
    }),
  ];

  async function stream(asker: RequestContext, after: number | "now", sessionId?: string): Promise<Answer> {
    const { owner, requestId } = asker;
    const lastSeq = await outbox.lastSeq();
    const afterSeq = begin(asker.lastEventId, after, lastSeq);
    const session = sessionId === undefined ? {} : { sessionId };
    const follow = (seq: number, signal: AbortSignal) => engine.follow({ owner, afterSeq: seq, signal, ...session });
    const source = { afterSeq, follow, key: JSON.stringify([owner, sessionId]), liveSeq: lastSeq };
    const headers = { "x-request-id": requestId, [AFTER_HEADER]: String(afterSeq) };
    asker.becomeStream();
    return {
      status: 200,
      stream: (response) => streams.run(response, headers, source, asker.dismissed()),
    };
  }
}

function begin(lastEventId: string | undefined, after: number | "now", lastSeq: number): number {
  const seen = lastEventId === undefined ? undefined : Number(lastEventId);
  if (seen !== undefined && (!Number.isSafeInteger(seen) || seen < 0)) {
    throw usageError("input_invalid", "Last-Event-ID must be a sequence number from an id: line.");
  }
  if (seen === undefined) return after === "now" ? lastSeq : after;
  // An id from the future was given by another store: what this one has is all new to the reader.
  return seen > lastSeq ? 0 : seen;
}
