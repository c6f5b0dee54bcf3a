import { embedderContract } from "../../testing/contracts/embedder.contract.ts";
import { createHashEmbedder } from "./hash-embedder.ts";

embedderContract("hashed words", async () => createHashEmbedder());
