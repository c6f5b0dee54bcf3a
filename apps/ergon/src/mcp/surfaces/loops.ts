import type { JsonObject } from "@ergon/core";
import { LoopReply } from "@ergon/core/spec";
import { LoopType } from "@ergon/core/schema";
import type { Tool } from "@modelcontextprotocol/server";
import { z } from "zod";
import { answer, outputSchema } from "../drive/answers.ts";
import type { WithOwner } from "../drive/with-owner.ts";
import type { McpSurface, McpTool } from "../host/surface.ts";

/** Spec 3's four tools, names and arguments as written there. What is wrong with an argument the loops themselves say. */
export function loopSurface(reach: WithOwner): McpSurface {
  const tools: readonly McpTool[] = [
    {
      definition: INITIALIZE,
      call: async ({ loop_type }, { owner }) =>
        answer(await reach({ repeatable: false }, ({ loops }) => loops.initialize({ owner, loop_type }))),
    },
    {
      definition: DECIDE,
      call: async ({ loop_id, current_score }, { owner, progress, log }) => {
        const reply = await reach({ repeatable: false }, ({ loops }) =>
          loops.decide({ owner, loop_id, current_score }),
        );
        progress({ progress: 1, total: 1, message: reply.message ?? reply.status });
        log("info", { event: "loop-decided", loop: reply as JsonObject });
        return answer(reply);
      },
    },
    {
      definition: STATUS,
      call: async ({ loop_id }, { owner }) =>
        answer(await reach({ repeatable: true }, ({ loops }) => loops.status({ owner, loop_id }))),
    },
    {
      definition: LIST,
      call: async (_, { owner }) =>
        answer({ result: await reach({ repeatable: true }, ({ loops }) => loops.list({ owner })) }),
    },
  ];
  return { tools: () => tools };
}

const REPLY = z.toJSONSchema(LoopReply);
const LOOP_ID = { type: "string", description: "the loop's id, from initialize_refinement_loop" };

const INITIALIZE: Tool = {
  name: "initialize_refinement_loop",
  title: "Begin a refinement loop",
  description:
    "Begins a loop that refines a work until it is good enough. Produce a draft, have it scored from 0 to 100, and give the score to decide_loop_next_action.",
  inputSchema: {
    type: "object",
    properties: {
      loop_type: {
        type: "string",
        enum: [...LoopType.options],
        description: "what is refined; each type has its own threshold",
      },
    },
    required: ["loop_type"],
  },
  outputSchema: outputSchema(REPLY),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
};

const DECIDE: Tool = {
  name: "decide_loop_next_action",
  title: "Decide what follows from a score",
  description:
    "Takes the newest score and says what to do. refine: improve the work and score it again, without asking the user. completed: go on. user_input: stop and ask the user how to go on.",
  inputSchema: {
    type: "object",
    properties: {
      loop_id: LOOP_ID,
      current_score: { type: "integer", minimum: 0, maximum: 100, description: "the critic's score" },
    },
    required: ["loop_id", "current_score"],
  },
  outputSchema: outputSchema(REPLY),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
};

const STATUS: Tool = {
  name: "get_loop_status",
  title: "Look at a refinement loop",
  description: "Shows a loop's status, last score and number of refinements. ergon://loops/{id} has every score.",
  inputSchema: { type: "object", properties: { loop_id: LOOP_ID }, required: ["loop_id"] },
  outputSchema: outputSchema(REPLY),
  annotations: { readOnlyHint: true, openWorldHint: false },
};

const LIST: Tool = {
  name: "list_active_loops",
  title: "List refinement loops",
  description: "Lists the loops that are kept, oldest first, finished ones included.",
  inputSchema: { type: "object", properties: {} },
  outputSchema: outputSchema({
    type: "object",
    properties: { result: { type: "array", items: REPLY } },
    required: ["result"],
  }),
  annotations: { readOnlyHint: true, openWorldHint: false },
};
