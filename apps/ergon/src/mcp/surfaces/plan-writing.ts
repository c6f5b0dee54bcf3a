// What an MCP client needs to write a plan of its own: the format, the tools that its steps may call, and a check.
import { Json } from "@ergon/core";
import { PlanVerdict, type ToolSummary } from "@ergon/core/schema";
import { planJsonSchema } from "@ergon/core/engine";
import type { Tool } from "@modelcontextprotocol/server";
import { z } from "zod";
import { answer, outputSchema } from "../drive/answers.ts";
import type { WithOwner } from "../drive/with-owner.ts";
import { define, parse } from "./sessions.ts";
import type { McpSurface, McpTool } from "../host/surface.ts";

const PLAN_SCHEMA_URI = "ergon://schemas/plan";
const DEFAULT_LISTED = 50;
const MAX_LISTED = 100;

export function planWritingSurface(reach: WithOwner): McpSurface {
  const tools: readonly McpTool[] = [
    {
      definition: define(LIST, ListArgs, LIST_OUTPUT),
      call: async (args) => {
        const { query, limit, cursor } = parse(ListArgs, args);
        const all = await reach({ repeatable: true }, async (workspace) => {
          await workspace.allToolsReady();
          return workspace.tools();
        });
        const fitting = query === undefined ? all : all.filter((tool) => mentions(tool, query));
        const from = cursor === undefined ? 0 : fitting.findIndex(({ id }) => id > cursor);
        const page = from < 0 ? [] : fitting.slice(from, from + limit);
        const last = page.at(-1)?.id;
        const more = last !== undefined && last !== fitting.at(-1)?.id;
        return answer({ items: page.map(shown), ...(more ? { nextCursor: last } : {}) });
      },
    },
    {
      definition: define(VALIDATE, ValidateArgs, VALIDATE_OUTPUT),
      call: async (args, { owner }) => {
        const { plan, input } = parse(ValidateArgs, args);
        const verdict = await reach({ repeatable: true }, async (workspace) => {
          await workspace.allToolsReady();
          return workspace.validatePlan({ owner, plan, input });
        });
        return answer(verdict);
      },
    },
  ];
  return {
    tools: () => tools,
    resources: {
      templates: () => [],
      list: async () => [RESOURCE],
      read: async (uri) => {
        if (uri !== PLAN_SCHEMA_URI) return undefined;
        return { contents: [{ uri, mimeType: RESOURCE.mimeType, text: JSON.stringify(planJsonSchema()) }] };
      },
      complete: async () => undefined,
    },
  };
}

function mentions({ id, title, description, tags }: ToolSummary, query: string): boolean {
  const text = [id, title, description, ...tags].join(" ").toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function shown({ id, title, description, effects, parameters, outputSchema: output }: ToolSummary) {
  return { id, title, description, effects, parameters, ...(output === undefined ? {} : { outputSchema: output }) };
}

const RESOURCE = {
  uri: PLAN_SCHEMA_URI,
  name: "plan schema",
  title: "The format of a plan",
  description: "JSON Schema of an AgenticPlan, for run_plan and validate_plan",
  mimeType: "application/schema+json",
};

const ListArgs = z.strictObject({
  query: z.string().max(1_000).optional().describe("only tools whose id, title, description or tags have these words"),
  limit: z.int().min(1).max(MAX_LISTED).default(DEFAULT_LISTED),
  cursor: z.string().min(1).max(1_000).optional().describe("nextCursor of the page before"),
});
const ValidateArgs = z.strictObject({
  plan: z
    .record(z.string(), z.unknown())
    .describe(`the AgenticPlan; its JSON Schema is the resource ${PLAN_SCHEMA_URI}`),
  input: Json.optional().describe("checked against the plan's parameters when given"),
});

const LIST = {
  name: "list_tools",
  title: "List the tools for plans",
  description:
    "Lists the tools that a plan's tool_call steps may name in toolId, by id, with the JSON Schemas of their arguments and results.",
  annotations: { readOnlyHint: true, openWorldHint: false },
} as const;
const LIST_OUTPUT = outputSchema({
  type: "object",
  properties: {
    items: {
      type: "array",
      items: {
        type: "object",
        properties: {
          id: { type: "string" },
          title: { type: "string" },
          description: { type: "string" },
          effects: { type: "string" },
          parameters: {},
          outputSchema: {},
        },
        required: ["id", "description", "parameters"],
      },
    },
    nextCursor: { type: "string" },
  },
  required: ["items"],
});
const VALIDATE = {
  name: "validate_plan",
  title: "Check a plan",
  description: `Finds all that is wrong with a plan before it runs, and runs nothing. The resource ${PLAN_SCHEMA_URI} has the format, list_tools the tools.`,
  annotations: { readOnlyHint: true, openWorldHint: false },
} as const;
const VALIDATE_OUTPUT: Tool["outputSchema"] = outputSchema(z.toJSONSchema(PlanVerdict, { unrepresentable: "any" }));
