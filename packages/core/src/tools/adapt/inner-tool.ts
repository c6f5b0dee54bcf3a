import { z } from "zod";
import { ToolDefinition, ToolSummary } from "../../schema/tool.ts";
import type { Tool } from "../tool.ts";
import { FunctionField } from "./common-fields.ts";
import { refuseInfrastructureInArgs } from "./infrastructure.ts";
import { refuseBadSchemas } from "./pure-tool.ts";
import { nameOf, readForm } from "./read-form.ts";

/** Takes a tool in its inner form, as loaders and the hub make them, after the checks that every form gets. */
export function adaptInnerTool(tool: unknown): Tool {
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
