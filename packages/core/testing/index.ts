export { approvalStoreContract, type OpenedApprovals } from "./approval-store.contract.ts";
export { approvalDeskContract, type OpenedDesk } from "./approval-desk.contract.ts";
export { argumentRepairerContract } from "./argument-repairer.contract.ts";
export { blobStoreContract } from "./blob-store.contract.ts";
export { clockContract } from "./clock.contract.ts";
export { engineContract, type OpenedEngine } from "./engine.contract.ts";
export {
  callStep,
  createEngineWorld,
  type EngineWorld,
  type EngineWorldOptions,
  planOf,
} from "./engine/engine-world.ts";
export { idsContract } from "./ids.contract.ts";
export { mcpConnectorContract, type TriedServers } from "./mcp-connector.contract.ts";
export { loginStoreContract, type OpenedLogins } from "./login-store.contract.ts";
export { loopStoreContract } from "./loop-store.contract.ts";
export { loggerContract } from "./logger.contract.ts";
export { refinementLoopsContract } from "./refinement-loops.contract.ts";
export { type OpenedSandbox, sandboxContract } from "./sandbox.contract.ts";
export { stateStoreContract } from "./state-store.contract.ts";
export { chatModelContract, type OpenedModel } from "./chat-model.contract.ts";
export { conversationsContract } from "./conversations.contract.ts";
export { createMindWorld, type MindWorld } from "./mind-world.ts";
export { conversationStoreContract, type OpenedConversations } from "./conversation-store.contract.ts";
export { conversationMemoryContract, type OpenedMemory } from "./conversation-memory.contract.ts";
export { embedderContract } from "./embedder.contract.ts";
export { createMockTools, type MockTool, type MockTools } from "./mock-tools.ts";
export { createScript, createScriptedModel, type ScriptedModel, type ScriptedReply } from "./scripted-model.ts";
export { createSimulatedClock, type SimulatedClock } from "./simulated-clock.ts";
export { createToolRun } from "./tool-run.ts";
