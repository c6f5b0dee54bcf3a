// Loads no test runner: what a test of tools, plans or planners needs, under any of them.
export {
  callStep,
  createEngineWorld,
  type EngineWorld,
  type EngineWorldOptions,
  planOf,
} from "./engine/engine-world.ts";
export { createConversationWorld, type ConversationWorld } from "./conversation-world.ts";
export { createMockTools, type MockTool, type MockTools } from "./mock-tools.ts";
export { createScript, createScriptedModel, type ScriptedModel, type ScriptedReply } from "./scripted-model.ts";
export { SECRET_SAMPLES, type SecretSample } from "./secret-samples.ts";
export { createSimulatedClock, type SimulatedClock } from "./simulated-clock.ts";
export { createToolRun } from "./tool-run.ts";
