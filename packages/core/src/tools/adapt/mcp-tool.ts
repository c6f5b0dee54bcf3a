import { z } from "zod";
import type { JsonSchema } from "../../schema/values/json.ts";
import { MCPTool } from "../../schema/hub.ts";
import { ToolId } from "../../schema/tool.ts";
import type { SchemaRules } from "../json-schema/check-schema.ts";
import type { Infrastructure, Tool, ToolArgs, ToolRun } from "../tool.ts";
import { jsonSchemaBody, refuseBadSchemas, type SchemaProvenance } from "./pure-tool.ts";
import { guarded, nameOf, readForm } from "./read-form.ts";

export type McpToolOptions = SchemaProvenance & {
  /** Sends the call to the server. */
  readonly call: (args: ToolArgs, run: ToolRun, infrastructure: Infrastructure) => unknown;
  /** `once` unless the server is trusted and its annotations say less. */
  readonly effects?: Tool["effects"];
  readonly title?: string;
  readonly outputSchema?: JsonSchema;
  readonly timeoutMs?: number;
};

/** Turns a tool of an MCP server (spec 5) into a tool; its name is `{server}_{tool}` already. */
export function adaptMcpTool(tool: unknown, options: McpToolOptions): Tool {
  return guarded(KIND, tool, () => {
    const { name, description, serverName, serverId, parameters, estimatedEnergyCost } = readForm(KIND, Fields, tool);
    const { call, outputSchema, timeoutMs } = options;
    refuseBadSchemas(nameOf(KIND, tool), { parameters, outputSchema }, RULES);
    return {
      id: name,
      title: options.title ?? name,
      // Servers may leave it out; a tool without one would be invisible to a planner.
      description: description === "" ? `${name} of the MCP server ${serverName}` : description,
      origin: "hub",
      source: options.source ?? `MCP server ${serverId}`,
      effects: options.effects ?? "once",
      parameters,
      ...(outputSchema === undefined ? {} : { outputSchema }),
      applicableRoles: [],
      tags: [serverName],
      suggestedPrerequisites: [],
      suggestedPostrequisites: [],
      requiredContext: [],
      usesAI: false,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(estimatedEnergyCost === undefined ? {} : { estimatedEnergyUnits: estimatedEnergyCost }),
      body: takingNulls(
        parameters,
        jsonSchemaBody(
          { parameters, outputSchema, rules: RULES, schemas: options.schemas },
          ({ args, infrastructure }, run) => call(args, run, infrastructure),
        ),
      ),
    };
  });
}

/** Models say null for what they leave out; where a server's schema has no place for it, it is left out. */
function takingNulls(parameters: JsonSchema, body: Tool["body"]): Tool["body"] {
  const required = new Set(typeof parameters === "boolean" ? [] : ((parameters["required"] ?? []) as string[]));
  return async () => {
    const { validateArgs, ...rest } = await body();
    return {
      ...rest,
      validateArgs: (args) => {
        const asGiven = validateArgs(args);
        if (asGiven.ok) return asGiven;
        const said = Object.entries(args).filter(([name, value]) => value !== null || required.has(name));
        const withoutNulls = validateArgs(Object.fromEntries(said));
        return withoutNulls.ok ? withoutNulls : asGiven;
      },
    };
  };
}

const KIND = "MCP tool";

/** The server checks its own patterns; one that we cannot run safely is no reason to do without the tool. */
const RULES: SchemaRules = { unsupportedPatterns: "ignore" };

const Fields = MCPTool.extend({ name: ToolId, estimatedEnergyCost: z.number().nonnegative().optional() });
