import { stateStoreContract } from "../../testing/contracts/state-store.contract.ts";
import { createMemoryStateStore } from "./state-store.ts";

stateStoreContract("memory", async () => ({ store: createMemoryStateStore() }));
