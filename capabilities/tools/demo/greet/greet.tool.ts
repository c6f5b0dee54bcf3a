import type { ToolDefinition } from "@ergon/core";

export const definition: ToolDefinition = {
  id: "demo::greet",
  title: "Greet someone",
  description: "Greets someone by name.",
  parameters: {
    type: "object",
    properties: {
      who: { type: "string", minLength: 1, maxLength: 200, description: "Who is greeted" },
      greeting: {
        type: "string",
        minLength: 1,
        maxLength: 200,
        default: "Hello",
        description: "The word to greet with",
      },
    },
    required: ["who"],
    additionalProperties: false,
  },
  outputSchema: {
    type: "object",
    properties: { greeting: { type: "string" } },
    required: ["greeting"],
  },
  effects: "pure",
  tags: ["demo"],
};

export async function implementation(args: { who: string; greeting?: string }): Promise<{ greeting: string }> {
  return { greeting: `${args.greeting ?? "Hello"}, ${args.who}!` };
}
