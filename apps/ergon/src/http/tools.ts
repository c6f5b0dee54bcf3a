import { Json, JsonObject } from "@ergon/core";
import { gateError, SessionId, ToolId, ToolSummary } from "@ergon/core/schema";
import { z } from "zod";
import type { HttpParts } from "./server/http-parts.ts";
import { route, type Route } from "./server/route.ts";
import { onlyLocal } from "./sessions.ts";

const noTool = ({ id = "" }: Readonly<Record<string, string>>): Error =>
  gateError("tool_not_found", `There is no tool "${id}".`, { details: { toolId: id } });

export function toolRoutes({ tools, clock }: Pick<HttpParts, "tools" | "clock">): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/tools",
      operationId: "listTools",
      summary: "The tools that can be called",
      access: "agent",
      answers: { 200: { description: "All tools", schema: z.object({ items: z.array(ToolSummary) }) } },
      waits: true,
      handle: async (_, { waitMs }) => {
        if (waitMs !== undefined) await tools.allToolsReady();
        return { status: 200, body: { items: tools.list() } };
      },
    }),
    route({
      method: "POST",
      path: "/tools/:id/call",
      operationId: "callTool",
      summary: "Call a tool",
      access: "agent",
      waits: true,
      isStart: true,
      params: z.object({ id: ToolId }),
      unknown: noTool,
      body: z.strictObject({
        args: JsonObject.default({}),
        sessionId: SessionId.optional(),
        typed: z.literal(true).optional().describe("a person typed it; only for processes on the same data folder"),
        follow: z
          .boolean()
          .optional()
          .describe("answers with the session at once; only for processes on the same data folder"),
        role: z.string().min(1).max(100).optional().describe("only for processes on the same data folder"),
      }),
      answers: {
        200: { description: "What the tool gave", schema: z.object({ output: Json }) },
        202: {
          description: "A person must approve it first; with Prefer: wait, nobody has answered yet",
          schema: z.object({ approvalId: z.string().optional(), sessionId: SessionId }),
        },
      },
      handle: async ({ params, body }, asker) => {
        const { owner, left } = asker;
        const { args, sessionId, follow, role } = body;
        if (body.typed === true || role !== undefined || follow === true)
          onlyLocal(asker, 'Leave "typed", "role" and "follow" out: they are for processes on this data folder.');
        const typed = body.typed === true ? { role } : undefined;
        const { waitMs } = asker;
        const ended = new AbortController();
        const patience = AbortSignal.any([asker.dismissed(), ended.signal]);
        const stop = clock.after(waitMs ?? 0, () => ended.abort());
        try {
          const called = await tools.call({
            owner,
            toolId: params.id,
            args,
            sessionId,
            typed,
            follow,
            startId: asker.start?.id,
            signal: left(),
            patience: waitMs === undefined ? undefined : patience,
          });
          if (called.kind === "finished") return { status: 200, body: { output: called.output } };
          const { kind: _told, ...accepted } = called;
          return { status: 202, body: accepted };
        } finally {
          stop();
        }
      },
    }),
  ];
}
