import { SUB_AGENT_TOOL_DEFINITIONS } from "../../hub/sub-agent-tools.ts";
import { gatewayTool } from "./gateway-tool.ts";
import type { WithOwner } from "../drive/with-owner.ts";
import type { McpSurface } from "../host/surface.ts";

/** Spec 5's four tools for the sub-agent, called like any tool of the registry. */
export function subAgentSurface(reach: WithOwner): McpSurface {
  const tools = Object.values(SUB_AGENT_TOOL_DEFINITIONS).map((definition) => gatewayTool(definition, reach));
  return { tools: () => tools };
}
