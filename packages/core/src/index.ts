export { ActionResponse } from "./schema/action.ts";
export {
  Approval,
  ApprovalDecision,
  ApprovalRule,
  ApprovalState,
  DecidedApproval,
  MAX_APPROVAL_RULES,
  MAX_FEEDBACK_CHARS,
  Remember,
  ToolChange,
  ToolGrant,
} from "./schema/approval.ts";
export { BlobRef, INLINE_LIMIT_BYTES, isBlobRef, JSON_MEDIA_TYPE } from "./schema/blob.ts";
export {
  BudgetStatus,
  Conversation,
  ConversationId,
  ConversationRecord,
  ConversationState,
  ConversationView,
  Entry,
  EntryBody,
  isRestful,
  LoggedEntry,
  MAX_CONTENT_CHARS,
  MessageReceipt,
  ConversationsStatus,
  NewMessage,
  Thought,
} from "./schema/conversation.ts";
export { DryRunReport } from "./schema/dry-run.ts";
export {
  CorrectedCall,
  Correction,
  CorrectionState,
  CorrectionStrategy,
  isCorrectionSession,
  PlanChange,
  ProposedCorrection,
} from "./schema/correction.ts";
export { EnergyCause, EnergyRow, EnergyState, EnergyStatus } from "./schema/energy.ts";
export { ErrorRecord, Problem } from "./schema/error.ts";
export { EventType, NewEvent, StoredEvent } from "./schema/event.ts";
export { canonicalJson, sha256Hex } from "./schema/values/hash.ts";
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
export { GivenAnswer, MAX_QUESTIONS, Question } from "./schema/question.ts";
export { isSecretField } from "./schema/values/secret-field.ts";
export {
  copyJson,
  Json,
  JsonObject,
  jsonProblem,
  type JsonRules,
  JsonSchema,
  MAX_JSON_DEPTH,
  MAX_JSON_NODES,
  pointerTo,
} from "./schema/values/json.ts";
export {
  ActionResult,
  ChatMessage,
  MAX_CALLER_ACTIONS,
  MAX_MESSAGE_CHARS,
  MCPRequest,
  MCPResponse,
  MCPResponseData,
  PlannedAction,
  Outcome,
} from "./schema/mcp-loop.ts";
export {
  AgenticPlan,
  Condition,
  ConditionalBranchStep,
  ContextKey,
  ContextValuePointer,
  FinalResponseStep,
  HumanInTheLoopStep,
  type LoopOverItemsStep,
  MAX_BRANCHES,
  MAX_CONCURRENCY,
  MAX_LOOP_ITEMS,
  MAX_PLAN_NESTING,
  MAX_PLAN_STEPS,
  MAX_RETRY_ATTEMPTS,
  MAX_TIMEOUT_MS,
  OnError,
  Operator,
  type ParallelBranchStep,
  PlanId,
  PlanProblem,
  PlanVerdict,
  PlanStep,
  RetryPolicy,
  StepId,
  ToolCallStep,
} from "./schema/plan.ts";
export { LoopReply, LoopState, LoopStatus, LoopType, Score } from "./schema/refinement.ts";
export {
  isSecretEntry,
  REDACTED,
  redactedName,
  redactedStart,
  redactJson,
  redactSecrets,
} from "./schema/values/redact.ts";
export { SANDBOX_LIMITS, SandboxProfile, SandboxProfileName, SandboxRequest, SandboxResult } from "./schema/sandbox.ts";
export { RunDiff } from "./schema/run-diff.ts";
export {
  HistoryEntry,
  isSettled,
  Mode,
  OpenCall,
  OpenWait,
  SessionContext,
  SessionCore,
  SessionError,
  RunId,
  SessionId,
  SessionStatus,
  StepResult,
} from "./schema/session.ts";
export { didYouMean, suggest } from "./schema/values/suggest.ts";
export {
  Effects,
  MAX_TOOL_ID_LENGTH,
  type ProgressUpdate,
  ToolDefinition,
  ToolId,
  ToolSummary,
} from "./schema/tool.ts";
export { present } from "./schema/values/present.ts";
export { accessError, type AccessErrorCode } from "./errors/access.ts";
export {
  ErgonError,
  type ErrorOptions,
  errorValue,
  type ErrorValue,
  isErgonError,
  thrownFrom,
  toErgonError,
} from "./errors/ergon-error.ts";
export { GATE_ERROR_CODES, gateError, type GateErrorCode } from "./errors/gate.ts";
export { conversationError, type ConversationErrorCode, noConversation } from "./errors/conversation.ts";
export { hubError, type HubErrorCode } from "./errors/hub.ts";
export { engineStopping, planError, type PlanErrorCode, planNotFound } from "./errors/plan.ts";
export { fromPack, type PackErrorCode, packMissing } from "./errors/pack.ts";
export { modelError, type ModelErrorCode } from "./errors/model.ts";
export { plannerError, type PlannerErrorCode } from "./errors/planner.ts";
export {
  LoopAlreadyExistsError,
  LoopError,
  type LoopErrorCode,
  LoopNotFoundError,
  LoopStateError,
  LoopValidationError,
} from "./errors/refinement.ts";
export { registryError, type RegistryErrorCode } from "./errors/registry.ts";
export { sandboxError, type SandboxErrorCode } from "./errors/sandbox.ts";
export { storeError, type StoreErrorCode } from "./errors/store.ts";
export { usageError, type UsageErrorCode } from "./errors/usage.ts";
export type { ArgumentRepair, ArgumentRepairer } from "./ports/argument-repairer.ts";
export { type BlobStore, MAX_BLOB_BYTES } from "./ports/blob-store.ts";
export {
  type ChatModel,
  type ChatReply,
  type ChatRequest,
  DEFAULT_MODEL_TIMEOUT_MS,
  DEFAULT_OUTPUT_TOKENS,
  type TokenUsage,
} from "./ports/chat-model.ts";
export { type Clock, isoTime } from "./ports/clock.ts";
export {
  type ConversationContext,
  type ConversationMemory,
  type ConversationQuery,
  type ConversationTurn,
  MIN_KEPT_MESSAGES,
  type RecentMessage,
  type RememberedMessage,
  type SemanticMatch,
} from "./ports/conversation-memory.ts";
export type { Change, ConversationStore, PoolChange, Receipt, ReceivedMessage } from "./ports/conversation-store.ts";
export type { ConversationRef, Conversations } from "./ports/conversations.ts";
export { type Embedder, type Embedding, MAX_EMBEDDED_CHARS, similarity } from "./ports/embedder.ts";
export type {
  CalledTool,
  CallTool,
  CreateSession,
  Engine,
  ExecutePlan,
  NewRun,
  FollowEvents,
  ForkSession,
  ListSessions,
  ReadSession,
  ResumeSession,
  SessionRef,
  SessionView,
  Waiting,
} from "./ports/engine.ts";
export type { Ids } from "./ports/ids.ts";
export type { LoginPlace, LoginStore } from "./ports/login-store.ts";
export type { LogFields, Logger } from "./ports/logger.ts";
export type { ISandboxService, Sandbox } from "./ports/sandbox.ts";
export {
  type LoopKeeping,
  type LoopRef,
  type LoopSoFar,
  type LoopStore,
  type LoopSummary,
  MAX_LOOP_OWNERS,
  RECENT_SCORES,
} from "./ports/loop-store.ts";
export type { RefinementLoops } from "./ports/refinement-loops.ts";
export {
  type BlobRow,
  type Commit,
  type RunClaim,
  type RunRow,
  type CommitNews,
  type CommitReceipt,
  type ContextRow,
  type ContextValue,
  type ContextWrite,
  type EnergyTotals,
  type EventQuery,
  type HistoryInput,
  type IStateStore,
  type JournalFinish,
  type JournalQuery,
  type JournalRow,
  type JournalStart,
  type JournalWhole,
  type JournalWrite,
  MAX_PAGE_ROWS,
  type PositionRange,
  type Page,
  type SessionQuery,
  type SessionRecord,
  type SessionWrite,
  type SpecSessionCore,
  type StateStore,
  type Version,
} from "./ports/state-store.ts";
export { createMemoryBlobStore } from "./memory/blob-store.ts";
export { checkBlob, missingBlob } from "./store-kit/blob-refusals.ts";
export { afterPrefix } from "./store-kit/byte-order.ts";
export { createSystemClock } from "./memory/clock.ts";
export { contextFrom, createConversationMemory } from "./memory/conversation-memory.ts";
export { createMemoryConversationStore, entriesOf, wantsSomething } from "./memory/conversation-store.ts";
export { createHashEmbedder } from "./memory/hash-embedder.ts";
export { type BatchOutcome, createCommitQueue } from "./store-kit/commit-queue.ts";
export {
  type BlobText,
  type CommitRows,
  type ContextText,
  type EventText,
  type JournalEndText,
  type JournalStartText,
  type SessionRow,
} from "./store-kit/commit-rows.ts";
export { createIds } from "./memory/ids.ts";
export { createMemoryLoginStore } from "./memory/login-store.ts";
export { createLoopIds } from "./store-kit/loop-ids.ts";
export { createMemoryRequestKeys } from "./memory/request-keys.ts";
export { createTurns } from "./store-kit/turns.ts";
export {
  type KeyedRequest,
  MAX_REQUEST_KEYS,
  type NewRequest,
  type RequestKey,
  type RequestKeyStore,
} from "./ports/request-keys.ts";
export { createMemoryLoopStore } from "./memory/loop-store.ts";
export { createMemoryLogger, silentLogger } from "./memory/logger.ts";
export { createMemoryStateStore } from "./memory/state-store.ts";
export {
  checkWhole,
  pageLimit,
  pageOf,
  refuse,
  scopeCursor,
  sessionCursor,
  writeScopeCursor,
} from "./store-kit/store-refusals.ts";
export { journalRow, newsOf, storedEvent } from "./store-kit/stored-rows.ts";
export { type CostModel, createCostModel, type PricedTool } from "./energy/cost-model.ts";
export { createEnergyLedger, type EnergyLedger, MAX_PENDING_ROWS } from "./energy/ledger.ts";
export {
  DEFAULT_REPLENISH_PER_SECOND,
  EnergyRegulator,
  MAX_LEVEL,
  MIN_LEVEL,
  type Reservation,
  type Spend,
  statusAt,
} from "./energy/regulator.ts";
export { UNITS_PER_SECOND, unitsForDuration } from "./energy/units.ts";
export { type ActionRequest, adaptAction, type MCPActionV2 } from "./tools/adapt/action.ts";
export { adaptTool, type ToolForm } from "./tools/adapt/adapt-tool.ts";
export { adaptMcpTool, type McpToolOptions } from "./tools/adapt/mcp-tool.ts";
export {
  adaptPureTool,
  type PureTool,
  type PureToolImplementation,
  type SchemaProvenance,
} from "./tools/adapt/pure-tool.ts";
export type { Provenance } from "./tools/adapt/read-form.ts";
export { adaptToolMetadata, type ToolMetadata } from "./tools/adapt/tool-metadata.ts";
export type { TypedTool } from "./tools/adapt/typed-tool.ts";
export { buildSafePrompt, type SafePrompt, type SafePromptInput, type Truncation } from "./tools/build-safe-prompt.ts";
export {
  type AllowedCall,
  type Caller,
  type CallNeedingApproval,
  type CallOutcome,
  type CheckAnswer,
  type DeniedCall,
  type InvokeOptions,
  type ToolCall,
} from "./tools/gate/call.ts";
export { type ActionDraft, defineAction, defineTool } from "./tools/define.ts";
export { type BlobParts, ownedBlobs } from "./tools/gate/owned-blobs.ts";
export { createToolGate, type IToolExecutor, type ToolGate, type ToolGateDeps } from "./tools/gate/gate.ts";
export { type AgentProgress, logAgentProgress } from "./tools/log-agent-progress.ts";
export { DEFAULT_TIMEOUT_MS } from "./tools/gate/invoke-call.ts";
export { compileJsonSchema, type JsonSchemaValidator } from "./tools/json-schema/compile.ts";
export { type SchemaRules } from "./tools/json-schema/check-schema.ts";
export { createJsonSchemas, type JsonSchemas } from "./tools/json-schema/json-schemas.ts";
export { offload, type Offloaded, type PendingBlob } from "./tools/gate/offload.ts";
export { ownFailure } from "./tools/gate/own-failure.ts";
export {
  allowAll,
  askBeforeDestroying,
  type PolicyAnswer,
  type PolicyQuestion,
  type ToolPolicy,
} from "./tools/gate/policy.ts";
export { DEFAULT_ROLE, isForRole, toolNotFound } from "./tools/known-tools.ts";
export {
  ActionV2Registry,
  type ICapabilityRegistry,
  MAX_TOOLS,
  type RegistryChange,
  type SpecAction,
  type ToolFilter,
  type ToolListing,
  ToolRegistry,
} from "./tools/registry.ts";
export { noSandbox } from "./tools/gate/run-sandbox.ts";
export type { SpecTool } from "./tools/spec-tool.ts";
export type {
  Infrastructure,
  Issue,
  Tool,
  ToolArgs,
  ToolBlobs,
  ToolBody,
  ToolContext,
  ToolInvocation,
  ToolRun,
  Validated,
} from "./tools/tool.ts";
export { type Decision, decide } from "./refinement/decide.ts";
export { DEFAULT_LOOP_BOUNDS, type LoopBounds, type LoopBoundsByType } from "./refinement/loop-bounds.ts";
export { createRefinementLoops, type LoopDecided, type RefinementLoopsDeps } from "./refinement/refinement-loops.ts";
export { checkLoopId } from "./refinement/loop-arguments.ts";
export { isStagnant } from "./refinement/stagnation.ts";
export { createDryRun, type DryRun } from "./plans/dry-run/dry-run.ts";
export { acknowledging, syncEnds } from "./plans/engine/run/acknowledging.ts";
export { createEngine, type EmbeddedEngine, MAX_ACTIVE_RUNS } from "./plans/engine/engine.ts";
export type { Corrections, FailedCall, Failure } from "./plans/engine/corrections.ts";
export { callOutput } from "./plans/engine/run/call-output.ts";
export type { CallHere, EngineDeps, PlanLookup, StartRun, ToolSource } from "./plans/engine/engine-deps.ts";
export { type IPlanExecutor, PlanExecutor } from "./plans/plan-executor.ts";
export { createSpecStateStore } from "./plans/spec-state-store.ts";
export {
  type CorrectionMode,
  createSupervisor,
  DEFAULT_CORRECTION_BUDGET,
  type ISupervisorService,
  MAX_CORRECTION_BUDGET,
  type Supervisor,
  type SupervisorDeps,
} from "./plans/supervisor/supervisor.ts";
export type { PlanEstimate } from "./plans/preflight/estimate.ts";
export type { ToolLookup } from "./plans/preflight/tool-index.ts";
export { planJsonSchema } from "./plans/plan-json-schema.ts";
export { type PlanChecks, type PlanReport, validatePlan } from "./plans/validate-plan.ts";
export { type IWorkflowManager, WorkflowManager } from "./plans/workflow-manager.ts";
export { describeResult } from "./planner/turn/describe-result.ts";
export { createFinalizeSummary, findingsIn } from "./planner/turn/finalize-summary.ts";
export { readySession } from "./planner/turn/ready-session.ts";
export type { RunPlace } from "./planner/turn/execute-actions.ts";
export { buildPlannerPrompt, type PlannerPrompt } from "./planner/llm/planner-prompt.ts";
export { createModelPlanner, type ModelPlannerDeps } from "./planner/llm/model-planner.ts";
export { createModelRepairer } from "./planner/llm/model-repairer.ts";
export { getConversationContext } from "./planner/turn/load-context.ts";
export { createOfflinePlanner, type OfflinePlannerDeps } from "./planner/default-planner.ts";
export { createToolEntities, type Entity, ENTITY_SOURCE_TAG, type EntitySource } from "./planner/tool-entities.ts";
export { type LoopDeps, type LoopOptions, McpLoopRunner, runMcpLoop } from "./planner/mcp-loop.ts";
export { MAX_PLANNED_TOOLS, type Planner, type PlannerAnswer, type PlannerInput } from "./planner/planner.ts";
export type { LoopRequest } from "./planner/read-request.ts";
export type { Attempt } from "./planner/turn/run-turn.ts";
export { type ChatInvocation, generateEmbedding, invokeChatModel, setSpecDefaults } from "./planner/spec-functions.ts";
export {
  createSupabaseActionLog,
  createSupabaseMemory,
  type SupabaseActionLog,
  type SupabaseLike,
  type SupabaseRights,
} from "./planner/supabase-records.ts";
export type { ModelCall, Warning } from "./planner/turn/trace.ts";
export {
  type AllowList,
  type ApprovalService,
  type ApprovalServiceDeps,
  createApprovalService,
  type Disallow,
  type Reader,
} from "./approvals/approval-service.ts";
export { allowsForGood, type ServerTrust } from "./approvals/approval-policy.ts";
export { createToolGrants, type ToolGrants } from "./approvals/tool-grants.ts";
export { type ApprovalSettings, createToolPolicy } from "./approvals/tool-policy.ts";
export { backoffMs } from "./hub/backoff.ts";
export { changesBetween, fingerprintOf } from "./approvals/fingerprint.ts";
export { matchesGlob } from "./approvals/glob.ts";
export { showHidden } from "./approvals/hidden-text.ts";
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
export { type Budget, budgetOf } from "./conversation/energy/budget.ts";
export {
  conversationsLeft,
  createConversationService,
  type ConversationService,
  type ConversationServiceDeps,
} from "./conversation/conversation-service.ts";
export { DEFAULT_LOOP_ENERGY, type LoopEnergy } from "./conversation/sub-agent/sub-agent-lead.ts";
export { decodePosition } from "./plans/position.ts";
export { absenceOf } from "./hub/server-slot.ts";
export { hubToolName, nameTools, refuseSharedPart, serverPart } from "./hub/names.ts";
export { type ClientManagerDeps, type HubChange, MAX_SERVERS, MCPClientManager } from "./hub/client-manager.ts";
export { readToolId } from "./hub/server-reads.ts";
export { START_CONCURRENCY } from "./hub/server-starts.ts";
export type { HubInvocation } from "./hub/hub-tool.ts";
export { fenceOf, type WantedServer } from "./hub/server-slot.ts";
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
export {
  type ApprovalAnswer,
  type ApprovalQuery,
  type ApprovalStore,
  MAX_ANSWERED_APPROVALS,
  MAX_PENDING_APPROVALS,
} from "./ports/approval-store.ts";
export type { ApprovalQuestions, CallInQuestion } from "./ports/approval-questions.ts";
export { approvalsFull, createMemoryApprovalStore, refuseAnswered, sortKey } from "./memory/approval-store.ts";
