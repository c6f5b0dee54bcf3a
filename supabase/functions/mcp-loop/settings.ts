import { chooseModel, type ModelChoice, type ModelSettings } from "../../../packages/node/src/models/choose-model.ts";

export type Settings = {
  readonly project: { readonly url: string; readonly key: string };
  readonly model: ModelChoice;
  /** As `provider/model`; without one, hashed words. */
  readonly embedder: { readonly id: string; readonly settings: ModelSettings } | undefined;
  readonly allowedOrigins: readonly string[];
};

/** The variables that a Supabase project gives its functions, and Ergon's own by their usual names. */
export function readSettings(get: (name: string) => string | undefined): Settings {
  const given = (name: string): string | undefined => {
    const value = get(name);
    return value === undefined || value === "" ? undefined : value;
  };
  const needed = (name: string): string => {
    const value = given(name);
    if (value === undefined) throw new Error(`${name} is not set. A Supabase project sets it for its functions.`);
    return value;
  };
  const models = {
    model: given("ERGON_MODEL"),
    modelUrl: given("ERGON_MODEL_URL"),
    openaiKey: given("OPENAI_API_KEY"),
    anthropicKey: given("ANTHROPIC_API_KEY"),
    googleKey: given("GOOGLE_GENERATIVE_AI_API_KEY"),
    mistralKey: given("MISTRAL_API_KEY"),
    groqKey: given("GROQ_API_KEY"),
    xaiKey: given("XAI_API_KEY"),
  };
  const embedder = given("ERGON_EMBEDDER");
  return {
    project: { url: needed("SUPABASE_URL"), key: needed("SUPABASE_ANON_KEY") },
    model: chooseModel(models),
    embedder: embedder === undefined ? undefined : { id: embedder, settings: models },
    allowedOrigins: originsIn(given("ERGON_ALLOWED_ORIGINS") ?? ""),
  };
}

/** Each as a browser sends it: scheme, host and port. */
function originsIn(list: string): readonly string[] {
  const origins = list.split(",").map((origin) => origin.trim());
  return origins
    .filter((origin) => origin !== "")
    .map((origin) => {
      const known = URL.canParse(origin) ? new URL(origin).origin : undefined;
      if (known !== undefined && known !== "null") return known;
      const why = origin === "*" ? 'Every page may not be let in by "*"' : `"${origin}" is no origin`;
      throw new Error(`ERGON_ALLOWED_ORIGINS: ${why}. Name each origin, separated by commas: https://app.example.`);
    });
}
