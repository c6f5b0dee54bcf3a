export { type FileBlobOptions, openFileBlobStore } from "./blobs/file-blob-store.ts";
export { type JsonDocument, parseJsonDocument } from "./config/json-document.ts";
export { processEnvironment } from "./config/process-environment.ts";
export { readSettings } from "./config/read-settings.ts";
export type {
  ResolvedSetting,
  SettingFlags,
  SettingInput,
  SettingProblem,
  Settings,
  SettingSource,
} from "./config/resolved-setting.ts";
export { type SettingGroup, type SettingName, SETTINGS, type SettingValues } from "./config/settings-table.ts";
export { type CapabilityFolder, loadFolder, type LoadOptions } from "./loader/load-folder.ts";
export { folderPlans, type LoadedPlan, type LoadedPlans } from "./loader/load-plans.ts";
export { keysOf, type Location, readPlanDocument } from "./loader/plan-document.ts";
export { serversJsonSchema } from "./hub/config/servers-json-schema.ts";
export { CapabilityManifest, describeCapabilities, loadPack, MANIFEST_FILE, packPlans } from "./loader/manifest.ts";
export { installModuleHooks, type ModuleHooks, type SharedModules } from "./loader/module-hooks.ts";
export { isInstalled } from "./loader/optional-packages.ts";
export { type CapabilityFile, type CapabilityProblem, type FolderScan, scanFolder } from "./loader/scan-folder.ts";
export { createPinoLogger, type LogLevel, type PinoLoggerOptions } from "./log/pino-logger.ts";
export { nodeHttp } from "./node-http.ts";
export {
  claimFolder,
  type ClaimOptions,
  type FolderClaim,
  folderOwned,
  type FolderOwner,
  type OwnedFolder,
} from "./ownership/claim-folder.ts";
export { createBundledEmbedder } from "./embed/bundled-embedder.ts";
export { chosenEmbedder } from "./models/chosen-embedder.ts";
export { createAiModel } from "./models/ai-model.ts";
export { chosenModel } from "./models/chosen-model.ts";
export { chooseCheaperModels, chooseModel, type ModelChoice, type ModelService } from "./models/choose-model.ts";
export { type KeptVectors, openKeptVectors } from "./embed/kept-embedder.ts";
export { openConversationMemory, type SqliteConversationMemory } from "./sqlite/stores/conversation-memory.ts";
export { type FolderInspection, inspectFolder } from "./ownership/inspect-folder.ts";
export { checkDatabaseThere, keepEpoch } from "./ownership/kept-epoch.ts";
export { firstWritable } from "./ownership/make-folder.ts";
export { stateFolder } from "./ownership/state-folder.ts";
export { describeFolder, type FolderDescription, prepareFolder, trustFolder } from "./ownership/prepare-folder.ts";
export { homeOf, readFolderId } from "./ownership/known-folders.ts";
export type { FolderHome } from "./ownership/settle-folder.ts";
export { type FolderPlace, judgeFolder } from "./ownership/trust-folder.ts";
export { openSqliteConversationStore } from "./sqlite/stores/conversation-store.ts";
export { openSqliteRequestKeys } from "./sqlite/stores/request-keys.ts";
export { openSqliteLoopStore, type SqliteLoopOptions } from "./sqlite/stores/loop-store.ts";
export { createLocalSandbox, type LocalSandboxOptions } from "./sandbox/local-sandbox.ts";
export { createRemoteSandbox, type SandboxTarget } from "./sandbox/remote-sandbox.ts";
export { type SandboxServer, type SandboxServerOptions, serveSandbox } from "./sandbox/sandbox-server.ts";
export { createSupervisedSandbox, type SupervisedOptions } from "./sandbox/supervised-sandbox.ts";
export { checkDatabase } from "./sqlite/database/check-database.ts";
export { openOwnedDatabase, type OwnedDatabase, type OwnedDatabaseOptions } from "./sqlite/database/owned-database.ts";
export type { StorePlace } from "./sqlite/stores/small-store.ts";
export { openSqliteStateStore, type SqliteStateStore, type SqliteStoreOptions } from "./sqlite/state/state-store.ts";
export { askRemote } from "./remote/remote-ask.ts";
export type { RemoteTarget } from "./remote/remote-call.ts";
export { AFTER_HEADER } from "./remote/follow-remote.ts";
export { createRemoteEngine } from "./remote/remote-engine.ts";
export { createRemoteConversations } from "./remote/remote-conversations.ts";
export { createRemoteLoops } from "./remote/remote-loops.ts";
export { validateRemotePlan } from "./remote/remote-plans.ts";
export { createRemoteTokens, type TokenAdmin } from "./remote/remote-tokens.ts";
export { listRemoteTools } from "./remote/remote-tools.ts";
export { embedRows } from "./supabase/embed-rows.ts";
export { type EmbeddedDatabase, openEmbeddedDatabase } from "./supabase/embedded-database.ts";
export { inspectSupabase, type SupabaseInspection } from "./supabase/inspect-supabase.ts";
export { createSupabase, type Supabase } from "./supabase/supabase.ts";
export { readFirstToken, readKeptToken, readTokenFile } from "./tokens/first-token.ts";
export { FIRST_PRINCIPAL, type Principal, TokenScope } from "./tokens/principal.ts";
export { newSecret } from "./tokens/secret.ts";
export {
  MAX_TOKENS,
  openTokenStore,
  type TokenStore,
  type TokenStoreOptions,
  TokenInfo,
  TokenName,
} from "./tokens/token-store.ts";
export { createDrained } from "./mcp/drained.ts";
export { createLineReader } from "./mcp/line-reader.ts";
export { isPlainMessage } from "./mcp/plain-message.ts";
export { openKnownEras } from "./hub/connection/known-eras.ts";
export { openFileLoginStore } from "./hub/auth/file-login-store.ts";
export { logIn } from "./hub/auth/log-in.ts";
export { limitedAccessMissing, ownInAccess } from "./hub/process/fenced-command.ts";
export { ownPaths, serverHomes } from "./own-paths.ts";
export type { LoginPrompt } from "./hub/auth/server-login.ts";
export { createMcpConnector } from "./hub/connection/connector.ts";
export { withAllowed, withoutAllowed, withoutServer, withServer, withServerField } from "./hub/config/edit-servers.ts";
export { allowedServersPath, type AllowedServers, openAllowedServers } from "./hub/config/allowed-servers.ts";
export { expandServer } from "./hub/config/expand-server.ts";
export { importServers, type ImportedServers } from "./hub/config/import-servers.ts";
export { type FileProblem, readServers, type ServersFile } from "./hub/config/read-servers.ts";
export { openServersFile, type WatchedServersFile } from "./hub/config/servers-file.ts";
export { type Found, openRegistryCache, type RegistryCache } from "./hub/install/registry-cache.ts";
export { createRegistryClient } from "./hub/install/registry-client.ts";
export { npmEnvironment } from "./hub/install/npm-environment.ts";
export { type EnableQuestion, startsAsAsked, type SubAgentHost } from "./hub/sub-agent/sub-agent-host.ts";
export { hasSubAgentRequests, openSubAgentRequests } from "./hub/sub-agent/requests.ts";
export { isInstalledServer } from "./hub/install/server-folder.ts";
export { runSubAgentWorker, serversFolder } from "./hub/sub-agent/run-worker.ts";
export { openSubAgent, type OwnedSubAgent } from "./hub/sub-agent/sub-agent.ts";
export { createSubAgentWorker } from "./hub/sub-agent/worker-process.ts";
export { hideInValue } from "./hub/call/hide-secrets.ts";
export { createRemoteServers, type ServerAdmin, ServersList } from "./remote/remote-servers.ts";
export { type InvocationLog, openInvocationLog } from "./sqlite/stores/invocation-log.ts";
export { type ApprovalClient, createRemoteApprovals } from "./remote/remote-approvals.ts";
export { openSqliteApprovalStore } from "./sqlite/stores/approval-store.ts";
export { PROJECT_FILE, readProjectFile } from "./config/config-file.ts";
export { isTrustedProject, trustProject } from "./ownership/trusted-projects.ts";
export { settingsJsonSchema } from "./config/settings-json-schema.ts";
