import type { ToolDefinition } from "@ergon/core";

export const definition: ToolDefinition = {
  id: "demo::add",
  title: "Add two numbers",
  description: "Adds two numbers.",
  parameters: {
    type: "object",
    properties: {
      a: { type: "number", description: "The first number" },
      b: { type: "number", description: "The second number" },
    },
    required: ["a", "b"],
    additionalProperties: false,
  },
  outputSchema: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
  effects: "pure",
  tags: ["demo"],
};

export async function implementation(args: { a: number; b: number }): Promise<{ sum: number }> {
  const sum = args.a + args.b;
  if (!Number.isFinite(sum)) throw new RangeError("The sum is too large for a number.");
  return { sum };
}
