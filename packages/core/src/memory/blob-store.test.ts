import { blobStoreContract } from "../../testing/contracts/blob-store.contract.ts";
import { createMemoryBlobStore } from "./blob-store.ts";

blobStoreContract("memory", async (maxBytes) => ({ blobs: createMemoryBlobStore({ maxBytes }) }));
