import { gateError, Json, JsonObject, SessionId, ToolId, ToolSummary } from "@ergon/core";
import { z } from "zod";
import type { CallTool, HttpParts } from "./server/http-parts.ts";
import { route, type Route } from "./server/route.ts";
import { onlyLocal } from "./sessions.ts";

const noTool = ({ id = "" }: Readonly<Record<string, string>>): Error =>
  gateError("tool_not_found", `There is no tool "${id}".`, { details: { toolId: id } });

export function toolRoutes({ tools, engine, clock }: Pick<HttpParts, "tools" | "engine" | "clock">): readonly Route[] {
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
      params: z.object({ id: ToolId }),
      unknown: noTool,
      body: z.strictObject({
        args: JsonObject.default({}),
        sessionId: SessionId.optional(),
        typed: z.literal(true).optional().describe("a person typed it; only for processes on the same data folder"),
        role: z.string().min(1).max(100).optional().describe("only for processes on the same data folder"),
      }),
      answers: {
        200: { description: "What the tool gave", schema: z.object({ output: Json }) },
        202: {
          description: "A person must approve it first; with Prefer: wait, nobody has answered yet",
          schema: z.object({ approvalId: z.string(), sessionId: SessionId }),
        },
      },
      handle: async ({ params, body }, asker) => {
        const { owner, left } = asker;
        if (body.typed === true || body.role !== undefined)
          onlyLocal(asker, 'Leave "typed" and "role" out: they are for the command line on this data folder.');
        const role = body.role === undefined ? {} : { role: body.role };
        const typed = body.typed === true ? { typed: role } : {};
        const session = body.sessionId === undefined ? {} : { session: await sessionOf(owner, body.sessionId) };
        const { waitMs } = asker;
        const ended = new AbortController();
        const patience = AbortSignal.any([asker.dismissed(), ended.signal]);
        const stop = clock.after(waitMs ?? 0, () => ended.abort());
        try {
          const called = await tools.call({
            owner,
            toolId: params.id,
            args: body.args,
            signal: left(),
            ...session,
            ...typed,
            ...(waitMs === undefined ? {} : { patience }),
          });
          if (called.kind === "finished") return { status: 200, body: { output: called.output } };
          const { approvalId, sessionId } = called;
          return { status: 202, body: { approvalId, sessionId } };
        } finally {
          stop();
        }
      },
    }),
  ];

  async function sessionOf(owner: string, sessionId: string): Promise<NonNullable<CallTool["session"]>> {
    const { core, context } = await engine.readSession({ owner, sessionId, historyLimit: 1 });
    return { context, ...(core.mode === undefined ? {} : { mode: core.mode }) };
  }
}
