import { loopStoreContract } from "../../testing/contracts/loop-store.contract.ts";
import { createMemoryLoopStore } from "./loop-store.ts";

loopStoreContract("in memory", async (keeping) => ({ loops: createMemoryLoopStore(keeping) }));
