export { blobStoreContract } from "./blob-store.contract.ts";
export { clockContract } from "./clock.contract.ts";
export { idsContract } from "./ids.contract.ts";
export { loggerContract } from "./logger.contract.ts";
export { stateStoreContract } from "./state-store.contract.ts";
