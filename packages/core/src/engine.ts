// For hosts: the gate, the engine, approvals, the supervisor, energy and refinement loops.
export { adaptAction } from "./tools/adapt/action.ts";
export type { SafePromptInput, Truncation } from "./tools/build-safe-prompt.ts";
export type { AgentProgress } from "./tools/log-agent-progress.ts";
export { MAX_TOOLS, type RegistryChange, type ToolFilter, type ToolListing } from "./tools/registry.ts";
export type { Infrastructure, Issue, ToolBlobs, ToolBody, ToolInvocation, Validated } from "./tools/tool.ts";
export type { PlanChecks, PlanReport } from "./plans/validate-plan.ts";
export {
  DEFAULT_REPLENISH_PER_SECOND,
  MAX_LEVEL,
  MIN_LEVEL,
  type Reservation,
  type Spend,
  statusAt,
} from "./energy/regulator.ts";
export { createToolGate, type ToolGate, type ToolGateDeps } from "./tools/gate/gate.ts";
export {
  type CorrectionMode,
  createSupervisor,
  DEFAULT_CORRECTION_BUDGET,
  MAX_CORRECTION_BUDGET,
  type Supervisor,
  type SupervisorDeps,
} from "./plans/supervisor/supervisor.ts";
export type { ArgumentRepair, ArgumentRepairer } from "./ports/argument-repairer.ts";
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
export type { RefinementLoops } from "./ports/refinement-loops.ts";
export {
  type KeyedRequest,
  MAX_REQUEST_KEYS,
  type NewRequest,
  type RequestKey,
  type RequestKeyStore,
} from "./ports/request-keys.ts";
export { type CostModel, createCostModel, type PricedTool } from "./energy/cost-model.ts";
export { createEnergyLedger, type EnergyLedger, MAX_PENDING_ROWS } from "./energy/ledger.ts";
export { UNITS_PER_SECOND, unitsForDuration } from "./energy/units.ts";
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
export type {
  AllowedCall,
  Caller,
  CallNeedingApproval,
  CallOutcome,
  CheckAnswer,
  DeniedCall,
  InvokeOptions,
  ToolCall,
} from "./tools/gate/call.ts";
export { type BlobParts, ownedBlobs } from "./tools/gate/owned-blobs.ts";
export { DEFAULT_TIMEOUT_MS } from "./tools/gate/invoke-call.ts";
export { compileJsonSchema, type JsonSchemaValidator } from "./tools/json-schema/compile.ts";
export type { SchemaRules } from "./tools/json-schema/check-schema.ts";
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
export { noSandbox } from "./tools/gate/run-sandbox.ts";
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
export type { PlanEstimate } from "./plans/preflight/estimate.ts";
export type { ToolLookup } from "./plans/preflight/tool-index.ts";
export { planJsonSchema } from "./plans/plan-json-schema.ts";
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
export { changesBetween, fingerprintOf } from "./approvals/fingerprint.ts";
export { matchesGlob } from "./approvals/glob.ts";
export { showHidden } from "./approvals/hidden-text.ts";
export { decodePosition } from "./plans/position.ts";
export type { ApprovalQuestions, CallInQuestion } from "./ports/approval-questions.ts";
