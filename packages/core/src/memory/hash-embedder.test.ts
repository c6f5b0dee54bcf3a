import { embedderContract } from "../../testing/embedder.contract.ts";
import { createHashEmbedder } from "./hash-embedder.ts";

embedderContract("hashed words", async () => createHashEmbedder());
