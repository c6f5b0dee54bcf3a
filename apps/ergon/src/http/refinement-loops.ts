import { LoopNotFoundError, LoopReply } from "@ergon/core/spec";
import { LoopState } from "@ergon/core/schema";
import type { RefinementLoops } from "@ergon/core/engine";
import { z } from "zod";
import { route, type Route } from "./server/route.ts";

const LoopParams = z.object({ id: z.string().length(8) });
const noLoop = ({ id = "" }: Readonly<Record<string, string>>): Error => new LoopNotFoundError(id);

/** What is wrong with an argument is the loops' own to say: the bodies let everything through. */
export function loopRoutes(loops: RefinementLoops): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/loops",
      operationId: "listLoops",
      summary: "Your refinement loops, oldest first, finished ones included",
      access: "agent",
      answers: { 200: { description: "All that are kept", schema: z.object({ items: z.array(LoopReply) }) } },
      handle: async (_, { owner }) => ({ status: 200, body: { items: await loops.list({ owner }) } }),
    }),
    route({
      method: "POST",
      path: "/loops",
      operationId: "initializeLoop",
      summary: "Begin a refinement loop",
      access: "agent",
      body: z.strictObject({ loop_type: z.unknown().optional().describe("plan, spec, build_plan or build_code") }),
      answers: { 201: { description: "The loop", schema: LoopReply } },
      handle: async ({ body }, { owner }) => {
        const reply = await loops.initialize({ owner, loop_type: body.loop_type });
        return { status: 201, headers: { location: `/loops/${reply.id}` }, body: reply };
      },
    }),
    route({
      method: "GET",
      path: "/loops/:id",
      operationId: "readLoop",
      summary: "A refinement loop with all its scores",
      access: "agent",
      params: LoopParams,
      unknown: noLoop,
      query: z.strictObject({ view: z.enum(["full", "status"]).optional() }),
      answers: {
        200: { description: "The loop; ?view=status leaves the scores out", schema: z.union([LoopState, LoopReply]) },
      },
      handle: async ({ params, query }, { owner }) => {
        const ref = { owner, loop_id: params.id };
        return { status: 200, body: await (query.view === "status" ? loops.status(ref) : loops.read(ref)) };
      },
    }),
    route({
      method: "POST",
      path: "/loops/:id/decide",
      operationId: "decideLoop",
      summary: "Give a loop its next score, and hear what to do",
      access: "agent",
      params: LoopParams,
      unknown: noLoop,
      body: z.strictObject({ current_score: z.unknown().optional().describe("a whole number from 0 to 100") }),
      answers: { 200: { description: "The decision", schema: LoopReply } },
      handle: async ({ params, body }, { owner }) => {
        const { current_score } = body;
        return { status: 200, body: await loops.decide({ owner, loop_id: params.id, current_score }) };
      },
    }),
  ];
}
