import { defineTool } from "@ergon/core";
import { z } from "zod";
import { definePlan } from "./define-plan.ts";

const charge = defineTool({
  name: "shop::charge",
  description: "Charges an order.",
  effects: "once",
  input: z.object({ order: z.string(), cents: z.number().int(), mode: z.enum(["test", "live"]).optional() }),
  output: z.object({ receipt: z.string() }),
  run: async ({ order, cents }, { idempotencyKey }) => ({ receipt: `${order}-${String(cents)}-${idempotencyKey}` }),
});

const done = { id: "done", type: "final_response", message: "Done." } as const;

// Ids of all lists, however deep, and keys that are saved there.
definePlan(
  {
    planId: "deep",
    startStepId: "each",
    steps: [
      {
        id: "each",
        type: "loop_over_items",
        collectionPath: { jsonPath: "$.promptInput.orders" },
        itemAlias: "order",
        loopPlan: [
          {
            id: "both",
            type: "parallel_branch",
            branches: [
              {
                steps: [
                  {
                    id: "again",
                    type: "loop_over_items",
                    collectionPath: { jsonPath: "$.context.order.parts" },
                    itemAlias: "part",
                    loopPlan: [
                      {
                        id: "inner",
                        type: "parallel_branch",
                        branches: [
                          {
                            steps: [
                              {
                                id: "charge",
                                type: "tool_call",
                                toolId: "shop::charge",
                                arguments: { order: { jsonPath: "$.context.part.id" }, cents: 100, mode: "test" },
                                saveAs: "receipt",
                                nextStepId: "tell",
                              },
                              {
                                id: "tell",
                                type: "tool_call",
                                toolId: "other::tell",
                                arguments: { any: ["thing", 1] },
                              },
                            ],
                          },
                        ],
                      },
                    ],
                  },
                ],
              },
            ],
          },
        ],
        nextStepId: "ask",
      },
      { id: "ask", type: "human_in_the_loop", message: "Go on?", saveAs: "ok", nextStepIdOnInput: "if" },
      {
        id: "if",
        type: "conditional_branch",
        condition: { left: { jsonPath: "$.context.ok" }, operator: "equals", right: true },
        onTrue: { nextStepId: "done" },
        onFalse: {},
      },
      { id: "done", type: "final_response", message: { jsonPath: "$.context.receipt[0].receipt" } },
    ],
  },
  { tools: [charge, "other::tell"] },
);

definePlan({
  planId: "p",
  // @ts-expect-error no step has this id
  startStepId: "chrage",
  steps: [{ id: "charge", type: "tool_call", toolId: "any::tool" }],
});

definePlan({
  planId: "p",
  startStepId: "charge",
  // @ts-expect-error no step has the id that nextStepId names
  steps: [{ id: "charge", type: "tool_call", toolId: "any::tool", nextStepId: "doen" }, done],
});

definePlan({
  planId: "p",
  startStepId: "charge",
  // @ts-expect-error nextStep is not a field of a step
  steps: [{ id: "charge", type: "tool_call", toolId: "any::tool", nextStep: "done" }, done],
});

definePlan({
  planId: "p",
  startStepId: "if",
  steps: [
    {
      id: "if",
      type: "conditional_branch",
      condition: { left: 1, operator: "equals", right: 1 },
      // @ts-expect-error no step has the id that the branch names
      onTrue: { nextStepId: "gone" },
      onFalse: { nextStepId: "done" },
    },
    done,
  ],
});

definePlan(
  {
    planId: "p",
    startStepId: "charge",
    steps: [
      {
        id: "charge",
        type: "tool_call",
        toolId: "shop::charge",
        // @ts-expect-error cents is a number
        arguments: { order: "A-1", cents: "990" },
      },
    ],
  },
  { tools: [charge] },
);

definePlan(
  {
    planId: "p",
    startStepId: "charge",
    // @ts-expect-error cents is missing
    steps: [{ id: "charge", type: "tool_call", toolId: "shop::charge", arguments: { order: "A-1" } }],
  },
  { tools: [charge] },
);

definePlan(
  {
    planId: "p",
    startStepId: "charge",
    // @ts-expect-error there is no such tool among those given
    steps: [{ id: "charge", type: "tool_call", toolId: "shop::chagre", arguments: { order: "A-1", cents: 1 } }],
  },
  { tools: [charge] },
);

definePlan({
  planId: "p",
  startStepId: "charge",
  steps: [
    { id: "charge", type: "tool_call", toolId: "any::tool", saveAs: "receipt", nextStepId: "done" },
    // @ts-expect-error no step saves this key
    { id: "done", type: "final_response", message: { jsonPath: "$.context.recipt" } },
  ],
});

definePlan({
  planId: "p",
  startStepId: "done",
  // @ts-expect-error a pointer begins with promptInput, context or history
  steps: [{ id: "done", type: "final_response", message: { jsonPath: "$.input.name" } }],
});
