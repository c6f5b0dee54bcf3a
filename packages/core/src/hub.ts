// For hosts: MCP servers, their configuration and their installation.
export { type ClientManagerDeps, type HubChange, MAX_SERVERS } from "./hub/client-manager.ts";
export {
  HubServerStatus,
  HubStats,
  HubToolStats,
  MCPServerConfig,
  MCPServersFile,
  MCPTool,
  ServerOffer,
  ServerQuestion,
  ServerStatus,
  ServerTest,
  SubAgentMessage,
  SubAgentRequest,
  SubAgentStatus,
} from "./schema/hub.ts";
export { Login, OAuthSettings } from "./schema/login.ts";
export { hubError, type HubErrorCode } from "./errors/hub.ts";
export type { LoginPlace, LoginStore } from "./ports/login-store.ts";
export { backoffMs } from "./hub/backoff.ts";
export { deriveServer, shortServerId } from "./install/derive-server.ts";
export {
  judgeEntry,
  judgePackage,
  MIN_AGE_DAYS,
  npmPackageOf,
  type Objection,
  PackageFacts,
} from "./install/judge-install.ts";
export { dependenciesOf, judgeLock, PackageLock } from "./install/judge-lock.ts";
export { FoundServer, RegistryEntry } from "./schema/registry.ts";
export { additionId, conversationOf, type PauseMode, SUB_AGENT_TOOLS, type SubAgent } from "./hub/sub-agent.ts";
export { absenceOf, fenceOf, type WantedServer } from "./hub/server-slot.ts";
export { hubToolName, nameTools, refuseSharedPart, serverPart } from "./hub/names.ts";
export { readToolId } from "./hub/server-reads.ts";
export { START_CONCURRENCY } from "./hub/server-starts.ts";
export type { HubInvocation } from "./hub/hub-tool.ts";
export type {
  ConnectionReport,
  ConnectionState,
  ListedTool,
  McpCall,
  McpConnection,
  McpConnector,
  McpContent,
  McpResult,
  OpenServer,
} from "./ports/mcp-connector.ts";
