import { modelError } from "../errors/model.ts";
import type { ChatModel } from "../ports/chat-model.ts";
import type { Embedder, Embedding } from "../ports/embedder.ts";
import { createHashEmbedder } from "../memory/hash-embedder.ts";
import { ToolRegistry } from "../tools/registry.ts";
import type { ToolContext } from "../tools/tool.ts";
import { createFinalizeSummary, PLANNED_TOOLS_KEY } from "./turn/finalize-summary.ts";

/** Spec 1's call of a model. */
export type ChatInvocation = {
  readonly prompt: { readonly system?: string; readonly user: string };
  readonly options?: {
    /** A wish: the program's own model answers, and the reply says which one that was. */
    readonly model?: string;
    readonly temperature?: number;
    readonly max_tokens?: number;
    readonly timeoutMs?: number;
  };
};

type SpecDefaults = { readonly model?: ChatModel | undefined; readonly embedder?: Embedder | undefined };

let defaults: SpecDefaults = {};

/** What spec 1's functions use where they are called as the spec writes them: without a model, without an embedder. */
export function setSpecDefaults(given: SpecDefaults): void {
  defaults = given;
}

/** Spec 1's name for asking a model. */
export async function invokeChatModel(
  { prompt, options = {} }: ChatInvocation,
  model: ChatModel | undefined = defaults.model,
): Promise<{ readonly text: string; readonly model: string }> {
  if (model === undefined) {
    const remedy = "Set ERGON_MODEL, pass a model as the second argument, or call setSpecDefaults({ model }).";
    throw modelError("model_unavailable", `invokeChatModel has no model to ask. ${remedy}`);
  }
  const { temperature = 0.3, max_tokens: maxOutputTokens = 1_000, timeoutMs } = options;
  const { system, user } = prompt;
  const reply = await model.generate({
    messages: [
      ...(system === undefined ? [] : [{ role: "system" as const, content: system }]),
      { role: "user", content: user },
    ],
    temperature,
    maxOutputTokens,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  return { text: reply.text, model: reply.model };
}

/** Spec 1's name for embedding one text. */
export async function generateEmbedding(
  text: string,
  embedder: Embedder = defaults.embedder ?? createHashEmbedder(),
): Promise<Embedding> {
  const [embedding] = await embedder.embed([text]);
  if (embedding === undefined) throw new Error(`The embedder "${embedder.model}" gave no vector.`);
  return embedding;
}

// Spec 1's own loop asks `ToolRegistry.get("finalize_summary")` for the last tool.
const summary = createFinalizeSummary();
ToolRegistry.always({
  ...summary,
  body: async () => {
    const body = await createFinalizeSummary({ model: defaults.model }).body();
    return { ...body, run: (call, run) => body.run({ ...call, context: withResults(call.context) }, run) };
  },
});

/** That loop keeps each result under its tool's name, and says nowhere else which tools ran. */
function withResults(context: ToolContext): ToolContext {
  if (PLANNED_TOOLS_KEY in context) return context;
  const ran = Object.keys(context).filter((key) => ToolRegistry.default.has(key));
  return { ...context, [PLANNED_TOOLS_KEY]: ran.map((tool) => ({ tool, place: tool })) };
}
