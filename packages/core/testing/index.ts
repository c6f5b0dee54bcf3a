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
export { loopStoreContract } from "./loop-store.contract.ts";
export { loggerContract } from "./logger.contract.ts";
export { refinementLoopsContract } from "./refinement-loops.contract.ts";
export { stateStoreContract } from "./state-store.contract.ts";
