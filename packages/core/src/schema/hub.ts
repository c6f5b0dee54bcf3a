import { z } from "zod";
import { Json, JsonSchema } from "./json.ts";
import { OAuthSettings } from "./login.ts";

/** Spec 5's contracts of the MCP hub and its sub-agent. */
export const MCPServerConfig = z.object({
  id: z.string().min(1).max(64),
  name: z.string().min(1).max(64),
  command: z.string().min(1).optional(),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  url: z.url().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  oauth: OAuthSettings.optional(),
  cwd: z.string().optional(),
  timeoutMs: z.int().positive().optional(),
  autoApprove: z.union([z.boolean(), z.array(z.string())]).optional(),
  access: z
    .object({
      read: z.array(z.string()).optional(),
      write: z.array(z.string()).optional(),
      network: z.boolean().optional(),
    })
    .optional(),
  trusted: z.boolean().optional(),
  enabled: z.boolean(),
});
export type MCPServerConfig = z.infer<typeof MCPServerConfig>;

export const MCPServersFile = z.object({
  servers: z.array(MCPServerConfig),
  subAgentEnabled: z.boolean().optional(),
  autoDiscoveryEnabled: z.boolean().optional(),
  toolApprovalRequired: z.boolean().optional(),
});
export type MCPServersFile = z.infer<typeof MCPServersFile>;

export const MCPTool = z.object({
  name: z.string(),
  description: z.string(),
  serverId: z.string(),
  serverName: z.string(),
  parameters: JsonSchema,
  estimatedEnergyCost: z.number().optional(),
});
export type MCPTool = z.infer<typeof MCPTool>;

export const ServerStatus = z.object({
  id: z.string(),
  name: z.string(),
  connected: z.boolean(),
  toolCount: z.int(),
  lastPing: z.string().nullable(),
  errors: z.array(z.string()),
});
export type ServerStatus = z.infer<typeof ServerStatus>;

export const SubAgentRequest = z.object({
  id: z.string(),
  type: z.enum(["add_server", "remove_server", "test_server", "search_servers", "modify_server"]),
  params: Json,
  timestamp: z.string(),
  priority: z.enum(["low", "medium", "high"]),
});
export type SubAgentRequest = z.infer<typeof SubAgentRequest>;

export const SubAgentStatus = z.object({
  requestId: z.string(),
  state: z.enum(["queued", "in_progress", "completed", "failed", "cancelled", "awaiting_approval"]),
  progress: z.number().min(0).max(100),
  message: z.string(),
  energyConsumed: z.number(),
  result: Json.optional(),
  error: z.string().optional(),
});
export type SubAgentStatus = z.infer<typeof SubAgentStatus>;

export const SubAgentMessage = z.object({
  type: z.enum(["status_update", "completion", "error", "tool_available"]),
  requestId: z.string(),
  data: Json,
});
export type SubAgentMessage = z.infer<typeof SubAgentMessage>;
