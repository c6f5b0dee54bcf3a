// What a program brings: a charge that must happen once, then a delivery that takes its time.
import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { definePlan, defineTool, z } from "ergon";

const [, , , log = "", gate = ""] = process.argv;
const note = (line: string): void => appendFileSync(log, `${line}\n`);

const charge = defineTool({
  name: "shop::charge",
  description: "Charges an order.",
  effects: "once",
  input: z.object({ order: z.string(), cents: z.number().int() }),
  output: z.object({ receipt: z.string() }),
  run: async ({ order, cents }, { idempotencyKey }) => {
    note(`charge ${order} ${String(cents)} ${idempotencyKey}`);
    return { receipt: `r-${order}` };
  },
});

const deliver = defineTool({
  name: "shop::deliver",
  description: "Has an order delivered.",
  effects: "idempotent",
  input: z.object({ order: z.string() }),
  run: async ({ order }, { signal, idempotencyKey }) => {
    note(`deliver ${order} ${idempotencyKey}`);
    while (!existsSync(gate)) await sleep(20, undefined, { signal });
    return "delivered";
  },
});

const checkout = definePlan(
  {
    planId: "checkout",
    parameters: { type: "object", required: ["order", "cents"] },
    startStepId: "charge",
    steps: [
      {
        id: "charge",
        type: "tool_call",
        toolId: "shop::charge",
        arguments: { order: { jsonPath: "$.promptInput.order" }, cents: { jsonPath: "$.promptInput.cents" } },
        saveAs: "paid",
        nextStepId: "deliver",
      },
      {
        id: "deliver",
        type: "tool_call",
        toolId: "shop::deliver",
        arguments: { order: { jsonPath: "$.promptInput.order" } },
        nextStepId: "confirm",
      },
      { id: "confirm", type: "human_in_the_loop", message: "Did it arrive?", nextStepIdOnInput: "done" },
      { id: "done", type: "final_response", message: { jsonPath: "$.context.paid.receipt" } },
    ],
  },
  { tools: [charge, deliver] },
);

export const shop = { tools: [charge, deliver], plans: [checkout] };
