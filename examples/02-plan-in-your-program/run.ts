// The library alone: no server, no database, no files. A plan asks a person in the middle, and goes on with the answer.
import assert from "node:assert/strict";
import { createSystemClock, type AgenticPlan, defineTool, silentLogger, ToolRegistry } from "@ergon/core";
import { createIds, createMemoryBlobStore, createMemoryStateStore } from "@ergon/core/store-kit";
import { createEngine, createToolGate } from "@ergon/core/engine";
import { z } from "zod";

const registry = new ToolRegistry();
registry.register(
  defineTool({
    name: "book_table",
    description: "Books a table.",
    argsSchema: z.object({ people: z.int().positive(), day: z.string() }),
    effects: "idempotent",
    run: ({ args }) => ({ confirmation: `${args.day}, table for ${String(args.people)}` }),
  }),
);

const plan: AgenticPlan = {
  planId: "dinner",
  description: "Asks for the day, then books.",
  parameters: { type: "object", properties: { people: { type: "integer" } }, required: ["people"] },
  startStepId: "ask",
  steps: [
    {
      id: "ask",
      type: "human_in_the_loop",
      message: "Which day, for {{$.promptInput.people}} people?",
      inputSchema: { enum: ["Friday", "Saturday"] },
      saveAs: "day",
      nextStepIdOnInput: "book",
    },
    {
      id: "book",
      type: "tool_call",
      toolId: "book_table",
      arguments: { people: { jsonPath: "$.promptInput.people" }, day: { jsonPath: "$.context.day" } },
      nextStepId: "done",
    },
    { id: "done", type: "final_response", message: "Booked: {{$.history[0].result.output.confirmation}}" },
  ],
};

const clock = createSystemClock();
const parts = { clock, logger: silentLogger, registry };
const engine = createEngine({
  ...parts,
  store: createMemoryStateStore(),
  blobs: createMemoryBlobStore(),
  gate: createToolGate(parts),
  ids: createIds({ clock }),
  plans: { get: () => undefined, ids: () => [] },
});
const session = { owner: "me", sessionId: "dinner-1" };

await engine.executePlan({ ...session, plan, input: { people: 4 }, create: true });
const asked = await engine.settled(session);
assert.equal(asked.status, "paused_on_human");
console.log(asked.waiting[0]?.message);

await assert.rejects(engine.resume({ ...session, input: "Monday" }), { code: "resume_input_invalid" });
await engine.resume({ ...session, input: "Friday" });
assert.equal((await engine.settled(session)).status, "completed");
const { context } = await engine.readSession(session);
assert.equal(context["finalResponse"], "Booked: Friday, table for 4");
console.log(context["finalResponse"]);
await engine.close();
