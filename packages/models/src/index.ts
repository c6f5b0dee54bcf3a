export {
  embedMany,
  type EmbeddingModel,
  generateText,
  jsonSchema,
  type LanguageModel,
  NoObjectGeneratedError,
  Output,
} from "ai";

/** Loaded one by one: a program talks to few of them. */
export const providers = {
  openai: () => import("@ai-sdk/openai"),
  anthropic: () => import("@ai-sdk/anthropic"),
  google: () => import("@ai-sdk/google"),
  compatible: () => import("@ai-sdk/openai-compatible"),
};
