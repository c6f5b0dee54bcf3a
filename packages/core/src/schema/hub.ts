import { z } from "zod";
import { ApprovalRule, MAX_APPROVAL_RULES } from "./approval.ts";
import { Json, JsonSchema } from "./values/json.ts";
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
    .strictObject({
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
  approvalRules: z.array(ApprovalRule).max(MAX_APPROVAL_RULES).optional(),
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

const ServerState = z.enum(["configured", "starting", "ready", "degraded", "down", "disabled"]);

/** Spec 5's status, and what people ask next. */
export const HubServerStatus = ServerStatus.extend({
  state: ServerState,
  nextTryAt: z.string().optional(),
  protocol: z.enum(["legacy", "modern"]).optional(),
  version: z.string().optional(),
  /** It was found, not named: it starts once a person has approved it. */
  needsApproval: z.literal(true).optional(),
  /** Whether a server that is started here runs behind a fence; absent for one that is reached by its address. */
  fence: z.enum(["none", "limited"]).optional(),
  /** What a person should know of its entry. */
  notes: z.array(z.string()).optional(),
});
export type HubServerStatus = z.infer<typeof HubServerStatus>;

/** What a server may have beside its tools. */
export const ServerOffer = z.enum(["resources", "prompts"]);
export type ServerOffer = z.infer<typeof ServerOffer>;

/** What a server is asked for beside its tools. */
export const ServerQuestion = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("resources") }),
  z.strictObject({ kind: z.literal("resource"), uri: z.string().min(1).max(2_000) }),
  z.strictObject({ kind: z.literal("prompts") }),
  z.strictObject({
    kind: z.literal("prompt"),
    name: z.string().min(1).max(200),
    args: z.record(z.string(), z.string()).default({}),
  }),
  z.strictObject({
    kind: z.literal("completion"),
    /** Whose argument it is. */
    of: z.union([
      z.strictObject({ prompt: z.string().min(1).max(200) }),
      z.strictObject({ template: z.string().min(1).max(2_000) }),
    ]),
    argument: z.strictObject({ name: z.string().min(1).max(200), value: z.string().max(2_000) }),
    /** The other arguments, as far as they are known. */
    given: z.record(z.string(), z.string()).default({}),
  }),
]);
export type ServerQuestion = z.infer<typeof ServerQuestion>;

/** What came of trying a server out. */
export const ServerTest = z.object({
  ok: z.boolean(),
  server: HubServerStatus,
  /** From its start until its tools were listed. */
  readyMs: z.number().optional(),
  tools: z.array(z.string()),
  /** What it printed. */
  log: z.array(z.string()),
});
export type ServerTest = z.infer<typeof ServerTest>;

/** What was learned of one tool from its calls; times and energy of those that succeeded. */
export const HubToolStats = z.object({
  tool: z.string(),
  serverId: z.string(),
  calls: z.int(),
  failures: z.int(),
  successRate: z.number(),
  p50Ms: z.number().nullable(),
  p95Ms: z.number().nullable(),
  p50Energy: z.number().nullable(),
  p95Energy: z.number().nullable(),
  /** How often it failed, by code. */
  errors: z.record(z.string(), z.int()),
});
export type HubToolStats = z.infer<typeof HubToolStats>;

const HubServerStats = z.object({
  id: z.string(),
  name: z.string(),
  enabled: z.boolean(),
  addedAt: z.string(),
  lastUsed: z.string().nullable(),
  totalInvocations: z.int(),
  totalFailures: z.int(),
});

export const HubStats = z.object({ servers: z.array(HubServerStats), tools: z.array(HubToolStats) });
export type HubStats = z.infer<typeof HubStats>;

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
  /** Whose request it is: nobody else is told. */
  owner: z.string(),
  data: Json,
});
export type SubAgentMessage = z.infer<typeof SubAgentMessage>;
