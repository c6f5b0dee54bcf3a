import type { JsonSchema } from "../schema/json.ts";
import type { Tool } from "./tool.ts";

/** A description longer than this is cut in the prompt; the tool itself keeps it whole. */
export const MAX_PROMPT_DESCRIPTION = 600;
const MAX_PROMPT_FIELDS = 30;

const NO_TOOLS_PROMPT = "Available tools: none.";

/** Spec 1's part of the planner's prompt: each tool with its description, its args, and what goes well before and after. */
export function plannerPrompt(tools: readonly Tool[]): string {
  if (tools.length === 0) return NO_TOOLS_PROMPT;
  const pathways = pathwaysOf(tools);
  const entries = tools.map((tool) => {
    const { after, before } = pathways.get(tool.id) ?? { after: [], before: [] };
    return [
      `- ${tool.id}: ${shortened(tool.description)}`,
      `  args: ${signatureOf(tool.parameters)}`,
      ...(after.length === 0 ? [] : [`  recommended after: ${after.join(", ")}`]),
      ...(before.length === 0 ? [] : [`  recommended before: ${before.join(", ")}`]),
    ].join("\n");
  });
  return `Available tools:\n${entries.join("\n")}`;
}

type Pathway = { readonly after: string[]; readonly before: string[] };

/** Either side may name the other. A tool that is not in the list is not mentioned: the planner could not use it. */
function pathwaysOf(tools: readonly Tool[]): ReadonlyMap<string, Pathway> {
  const pathways = new Map<string, Pathway>(tools.map(({ id }) => [id, { after: [], before: [] }]));
  const link = (first: string, then: string): void => {
    const [earlier, later] = [pathways.get(first), pathways.get(then)];
    if (earlier === undefined || later === undefined || first === then) return;
    if (!earlier.before.includes(then)) earlier.before.push(then);
    if (!later.after.includes(first)) later.after.push(first);
  };
  for (const tool of tools) {
    for (const first of tool.suggestedPrerequisites) link(first, tool.id);
    for (const then of tool.suggestedPostrequisites) link(tool.id, then);
  }
  return pathways;
}

function signatureOf(parameters: JsonSchema): string {
  if (typeof parameters === "boolean") return "{}";
  const properties: unknown = parameters["properties"];
  if (typeof properties !== "object" || properties === null) return "{}";
  const required: unknown = parameters["required"];
  const names = Object.entries(properties as Readonly<Record<string, unknown>>);
  const fields = names.slice(0, MAX_PROMPT_FIELDS).map(([name, schema]) => {
    const isRequired = Array.isArray(required) && required.includes(name);
    return `${name}${isRequired ? "" : "?"}: ${typeName(schema)}`;
  });
  return `{ ${[...fields, ...(names.length > MAX_PROMPT_FIELDS ? ["…"] : [])].join(", ")} }`;
}

function typeName(schema: unknown): string {
  if (typeof schema !== "object" || schema === null) return "any";
  const { type, enum: choices } = schema as { readonly type?: unknown; readonly enum?: unknown };
  if (Array.isArray(choices) && choices.length <= 10)
    return choices.map((choice) => JSON.stringify(choice)).join(" | ");
  if (typeof type === "string") return type;
  return Array.isArray(type) ? type.map(String).join(" | ") : "any";
}

/** One line: a description must not look like another entry of the list. */
function shortened(description: string): string {
  const line = description.replaceAll(/\s+/g, " ").trim();
  return line.length <= MAX_PROMPT_DESCRIPTION ? line : `${line.slice(0, MAX_PROMPT_DESCRIPTION)}…`;
}
