import { z } from "zod";
import { registryError } from "../../errors/registry.ts";
import { ToolDefinition, ToolSummary } from "../../schema/tool.ts";
import type { Tool } from "../tool.ts";
import { adaptAction, type MCPActionV2 } from "./action.ts";
import { FunctionField } from "./common-fields.ts";
import { refuseInfrastructureInArgs } from "./infrastructure.ts";
import { adaptPureTool, type PureTool, refuseBadSchemas, type SchemaProvenance } from "./pure-tool.ts";
import { guarded, nameOf, readForm } from "./read-form.ts";
import { adaptToolMetadata, type ToolMetadata } from "./tool-metadata.ts";
import { adaptTypedTool, type TypedTool } from "./typed-tool.ts";

/** Everything that can be registered as it is; a server's tool needs the connection too, see `adaptMcpTool`. */
export type ToolForm = ToolMetadata | TypedTool | MCPActionV2 | PureTool | Tool;

/** Tells the authoring forms apart by what makes each of them callable. Throws what the form's own adapter throws. */
export function adaptTool(form: unknown, from: SchemaProvenance = {}): Tool {
  return guarded("tool", form, () => {
    const { schemas: _, ...provenance } = from;
    if (has(form, "actionFn")) return adaptAction(form, provenance);
    if (has(form, "implementation") || has(form, "definition")) return adaptPureTool(form, from);
    if (has(form, "body")) {
      const tool = adaptInnerTool(form);
      return from.source === undefined ? tool : { ...tool, source: from.source };
    }
    if (has(form, "input")) return adaptTypedTool(form, provenance);
    if (has(form, "run") || has(form, "argsSchema")) return adaptToolMetadata(form, provenance);
    throw registryError(
      "tool_invalid",
      "This is no tool: it has neither `run` (with name, description, and input or argsSchema), nor `actionFn`, nor `definition` with `implementation`.",
    );
  });
}

function has(form: unknown, key: string): boolean {
  return typeof form === "object" && form !== null && key in form;
}

/** Takes a tool in its inner form, as loaders and the hub make them, after the checks that every form gets. */
function adaptInnerTool(tool: unknown): Tool {
  const form = readForm(KIND, Fields, tool);
  const owner = nameOf(KIND, form);
  const { parameters, outputSchema, origin } = form;
  refuseBadSchemas(
    owner,
    { parameters, outputSchema },
    { unsupportedPatterns: origin === "hub" ? "ignore" : "refuse" },
  );
  if (origin === "action" || origin === "registered") refuseInfrastructureInArgs(owner, parameters);
  return tool as Tool;
}

const KIND = "tool";

const Fields = ToolSummary.omit({ estimatedEnergyUnits: true }).extend({
  source: z.string().optional(),
  energyUnits: ToolDefinition.shape.energyUnits,
  estimatedEnergyUnits: z.number().nonnegative().optional(),
  timeoutMs: ToolDefinition.shape.timeoutMs,
  freshForMs: z.number().positive().optional(),
  usesAI: z.boolean(),
  body: FunctionField,
});
