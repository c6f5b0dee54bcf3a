// The names of the specifications, callable and implementable as these write them.
export type { ISandboxService } from "./ports/sandbox.ts";
export type { MCPActionV2 } from "./tools/adapt/action.ts";
export type { ActionDraft } from "./tools/define.ts";
export { ActionV2Registry, type ICapabilityRegistry, type SpecAction } from "./tools/registry.ts";
export { LoopReply } from "./schema/refinement.ts";
export {
  LoopAlreadyExistsError,
  LoopError,
  type LoopErrorCode,
  LoopNotFoundError,
  LoopStateError,
  LoopValidationError,
} from "./errors/refinement.ts";
export type { IStateStore, SpecSessionCore } from "./ports/state-store.ts";
export { EnergyRegulator } from "./energy/regulator.ts";
export type { IToolExecutor } from "./tools/gate/gate.ts";
export type { SpecTool } from "./tools/spec-tool.ts";
export { type IPlanExecutor, PlanExecutor } from "./plans/plan-executor.ts";
export { createSpecStateStore } from "./plans/spec-state-store.ts";
export type { ISupervisorService } from "./plans/supervisor/supervisor.ts";
export { type IWorkflowManager, WorkflowManager } from "./plans/workflow-manager.ts";
export { getConversationContext } from "./planner/turn/load-context.ts";
export { type ChatInvocation, generateEmbedding, invokeChatModel, setSpecDefaults } from "./planner/spec-functions.ts";
export { MCPClientManager } from "./hub/client-manager.ts";
