import type { ToolDefinition } from "@ergon/core";

export const definition: ToolDefinition = {
  id: "demo::fail",
  title: "Fail",
  description: "Always fails, with the message it is given: for trying out what happens then.",
  parameters: {
    type: "object",
    properties: {
      message: {
        type: "string",
        minLength: 1,
        maxLength: 1_000,
        default: "It failed, as asked.",
        description: "What to fail with",
      },
    },
    additionalProperties: false,
  },
  effects: "pure",
  tags: ["demo", "on-request"],
};

export async function implementation({ message }: { message?: string }): Promise<never> {
  throw new Error(message ?? "It failed, as asked.");
}
