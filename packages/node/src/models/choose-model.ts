import { didYouMean } from "@ergon/core";
import type { SettingValues } from "../config/settings-table.ts";

/** Which model answers, by the settings; without network access or loading anything. */
export type ModelChoice =
  | { readonly kind: "offline"; readonly reason: string }
  | { readonly kind: "model"; readonly service: ModelService }
  | { readonly kind: "broken"; readonly problem: string };

export type ModelService = {
  /** `provider/model`. */
  readonly id: string;
  readonly provider: string;
  readonly model: string;
  /** Which of the SDK's providers speaks to it. */
  readonly speaks: "openai" | "anthropic" | "google" | "openai-compatible";
  readonly url?: string;
  readonly key?: string;
};

export type ModelSettings = Pick<
  SettingValues,
  "model" | "modelUrl" | "openaiKey" | "anthropicKey" | "googleKey" | "mistralKey" | "groqKey" | "xaiKey"
>;

/** Spec 1's model, where there is a key for it and nothing else is said. */
const DEFAULT_MODEL = "openai/gpt-4o";

type Provider = {
  readonly speaks: ModelService["speaks"];
  readonly key: (settings: ModelSettings) => string | undefined;
  readonly keyName: string;
  readonly url?: string;
};

const PROVIDERS: Readonly<Record<string, Provider>> = {
  openai: { speaks: "openai", key: ({ openaiKey }) => openaiKey, keyName: "OPENAI_API_KEY" },
  anthropic: { speaks: "anthropic", key: ({ anthropicKey }) => anthropicKey, keyName: "ANTHROPIC_API_KEY" },
  google: { speaks: "google", key: ({ googleKey }) => googleKey, keyName: "GOOGLE_GENERATIVE_AI_API_KEY" },
  mistral: compatible("https://api.mistral.ai/v1", ({ mistralKey }) => mistralKey, "MISTRAL_API_KEY"),
  groq: compatible("https://api.groq.com/openai/v1", ({ groqKey }) => groqKey, "GROQ_API_KEY"),
  xai: compatible("https://api.x.ai/v1", ({ xaiKey }) => xaiKey, "XAI_API_KEY"),
};

/** Of several models the first: it plans, sums up and repairs. */
export function chooseModel(settings: ModelSettings): ModelChoice {
  const { modelUrl, openaiKey } = settings;
  const model = settings.model?.split(",")[0];
  if (model?.toLowerCase() === "offline") return { kind: "offline", reason: "ERGON_MODEL is offline" };
  if (model === undefined && modelUrl !== undefined) {
    return {
      kind: "broken",
      problem: "ERGON_MODEL_URL is set but ERGON_MODEL is not: name the model, as provider/model.",
    };
  }
  if (model === undefined && openaiKey === undefined) return { kind: "offline", reason: "ERGON_MODEL is not set" };
  return chooseService(model ?? DEFAULT_MODEL, settings);
}

/** Those behind the first, each cheaper than the one before: conversations take them when energy is low. */
export function chooseCheaperModels(settings: ModelSettings): readonly Exclude<ModelChoice, { kind: "offline" }>[] {
  const [, ...cheaper] = settings.model?.split(",") ?? [];
  return cheaper.map((id) => chooseService(id, settings));
}

/** The service behind a `provider/model`: a chat model's or an embedder's. */
export function chooseService(id: string, settings: ModelSettings): Exclude<ModelChoice, { kind: "offline" }> {
  const slash = id.indexOf("/");
  const named = { id, provider: id.slice(0, slash).toLowerCase(), model: id.slice(slash + 1) };
  const provider = Object.hasOwn(PROVIDERS, named.provider) ? PROVIDERS[named.provider] : undefined;
  const key = provider?.key(settings);
  if (settings.modelUrl !== undefined) {
    const service = { ...named, speaks: "openai-compatible" as const, url: settings.modelUrl };
    return { kind: "model", service: key === undefined ? service : { ...service, key } };
  }
  if (provider === undefined) {
    const known = Object.keys(PROVIDERS);
    const problem = `There is no provider "${named.provider}".${didYouMean(named.provider, known)} Known are ${known.join(", ")}; for another set ERGON_MODEL_URL to its OpenAI-compatible address.`;
    return { kind: "broken", problem };
  }
  if (key === undefined) {
    return { kind: "broken", problem: `${id} needs ${provider.keyName}, which is not set.` };
  }
  const { speaks, url } = provider;
  return { kind: "model", service: { ...named, speaks, key, ...(url === undefined ? {} : { url }) } };
}

function compatible(url: string, key: Provider["key"], keyName: string): Provider {
  return { speaks: "openai-compatible", key, keyName, url };
}
