import { type ToolDefinition } from "@ergon/core";

export const definition: ToolDefinition = {
  id: "text::initials",
  description: "The initials of a name.",
  parameters: {
    type: "object",
    properties: { name: { type: "string", minLength: 1, description: "First and last names" } },
    required: ["name"],
    additionalProperties: false,
  },
  outputSchema: { type: "object", properties: { initials: { type: "string" } }, required: ["initials"] },
};

export function implementation({ name }: { name: string }): { initials: string } {
  const words = name.trim().split(/\s+/);
  return { initials: words.map((word) => word.charAt(0).toUpperCase()).join("") };
}
