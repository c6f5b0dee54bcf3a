import { SUB_AGENT_TOOL_DEFINITIONS } from "../hub/sub-agent-tools.ts";
import { gatewayTool } from "./gateway-tool.ts";
import type { Reach } from "./reach.ts";
import type { McpSurface } from "./surface.ts";

/** Spec 5's four tools for the sub-agent, called like any tool of the registry. */
export function subAgentSurface(reach: Reach): McpSurface {
  const tools = Object.values(SUB_AGENT_TOOL_DEFINITIONS).map((definition) => gatewayTool(definition, reach));
  return { tools: () => tools };
}
