// Data and errors: what is stored, sent and parsed.
export {
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
export { INLINE_LIMIT_BYTES } from "./schema/blob.ts";
export { EventType, NewEvent } from "./schema/event.ts";
export {
  copyJson,
  jsonProblem,
  type JsonRules,
  MAX_JSON_DEPTH,
  MAX_JSON_NODES,
  pointerTo,
} from "./schema/values/json.ts";
export {
  ActionResult,
  ChatMessage,
  MAX_CALLER_ACTIONS,
  MAX_MESSAGE_CHARS,
  MCPResponseData,
} from "./schema/mcp-loop.ts";
export {
  Condition,
  ConditionalBranchStep,
  ContextKey,
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
  PlanVerdict,
  RetryPolicy,
  StepId,
  ToolCallStep,
} from "./schema/plan.ts";
export {
  HistoryEntry,
  isSettled,
  Mode,
  OpenCall,
  OpenWait,
  SessionContext,
  SessionError,
  RunId,
  SessionId,
  StepResult,
} from "./schema/session.ts";
export { suggest } from "./schema/values/suggest.ts";
export { MAX_TOOL_ID_LENGTH, type ProgressUpdate, ToolId, ToolSummary } from "./schema/tool.ts";
export { errorValue, type ErrorValue, thrownFrom } from "./errors/ergon-error.ts";
export { type PackErrorCode, packMissing } from "./errors/pack.ts";
export { LoopState, LoopStatus, LoopType, Score } from "./schema/refinement.ts";
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
export { canonicalJson, sha256Hex } from "./schema/values/hash.ts";
export { GivenAnswer, MAX_QUESTIONS, Question } from "./schema/question.ts";
export { isSecretField } from "./schema/values/secret-field.ts";
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
export { present } from "./schema/values/present.ts";
export { accessError, type AccessErrorCode } from "./errors/access.ts";
export { GATE_ERROR_CODES, gateError, type GateErrorCode } from "./errors/gate.ts";
export { conversationError, type ConversationErrorCode, noConversation } from "./errors/conversation.ts";
export { engineStopping, planError, type PlanErrorCode, planNotFound } from "./errors/plan.ts";
export { modelError, type ModelErrorCode } from "./errors/model.ts";
export { plannerError, type PlannerErrorCode } from "./errors/planner.ts";
export { registryError, type RegistryErrorCode } from "./errors/registry.ts";
export { sandboxError, type SandboxErrorCode } from "./errors/sandbox.ts";
export { storeError, type StoreErrorCode } from "./errors/store.ts";
export { usageError, type UsageErrorCode } from "./errors/usage.ts";
