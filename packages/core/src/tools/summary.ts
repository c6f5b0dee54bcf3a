import type { CostModel } from "../energy/cost-model.ts";
import type { ToolSummary } from "../schema/tool.ts";
import type { Tool } from "./tool.ts";

/** What every door shows of a tool. */
export function summaryOf(tool: Tool, costs: CostModel): ToolSummary {
  return {
    id: tool.id,
    title: tool.title,
    description: tool.description,
    effects: tool.effects,
    ...(tool.destructiveHint === undefined ? {} : { destructiveHint: tool.destructiveHint }),
    origin: tool.origin,
    parameters: tool.parameters,
    ...(tool.outputSchema === undefined ? {} : { outputSchema: tool.outputSchema }),
    applicableRoles: [...tool.applicableRoles],
    tags: [...tool.tags],
    suggestedPrerequisites: [...tool.suggestedPrerequisites],
    suggestedPostrequisites: [...tool.suggestedPostrequisites],
    requiredContext: [...tool.requiredContext],
    estimatedEnergyUnits: costs.estimateTool(tool),
  };
}
