import { requestKeysContract } from "../../testing/contracts/request-keys.contract.ts";
import { createMemoryRequestKeys } from "./request-keys.ts";

requestKeysContract("in memory", async () => ({ keys: createMemoryRequestKeys() }));
