import { fromPack } from "@ergon/core";
import type { EmbeddingModel, LanguageModel } from "@ergon/models";
import type { ModelService } from "./choose-model.ts";

/** What a provider of the SDK makes; loaded when it is first needed. */
export type LoadedProvider = {
  readonly chat: () => LanguageModel;
  readonly embedding: () => EmbeddingModel;
};

/** Named so in the options that requests carry for it. */
export const COMPATIBLE_NAME = "ergon";

export async function loadProvider(service: ModelService, fetch: typeof globalThis.fetch): Promise<LoadedProvider> {
  const { model, key: apiKey } = service;
  const { providers } = await loadSdk();
  switch (service.speaks) {
    case "openai": {
      const { createOpenAI } = await providers.openai();
      const openai = createOpenAI({ fetch, ...(apiKey === undefined ? {} : { apiKey }) });
      return { chat: () => openai(model), embedding: () => openai.embedding(model) };
    }
    case "anthropic": {
      const { createAnthropic } = await providers.anthropic();
      const anthropic = createAnthropic({ fetch, ...(apiKey === undefined ? {} : { apiKey }) });
      return { chat: () => anthropic(model), embedding: () => anthropic.embeddingModel(model) };
    }
    case "google": {
      const { createGoogleGenerativeAI } = await providers.google();
      const google = createGoogleGenerativeAI({ fetch, ...(apiKey === undefined ? {} : { apiKey }) });
      return { chat: () => google(model), embedding: () => google.embedding(model) };
    }
    case "openai-compatible": {
      const { createOpenAICompatible } = await providers.compatible();
      const compatible = createOpenAICompatible({
        name: COMPATIBLE_NAME,
        baseURL: (service.url ?? "").replace(/\/+$/, ""),
        fetch,
        supportsStructuredOutputs: true,
        ...(apiKey === undefined ? {} : { apiKey }),
      });
      return { chat: () => compatible(model), embedding: () => compatible.embeddingModel(model) };
    }
  }
}

export function loadSdk() {
  return fromPack("@ergon/models", () => import("@ergon/models"));
}
