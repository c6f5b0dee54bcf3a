import type { ChatModel } from "../ports/chat-model.ts";
import type { Embedder, Embedding } from "../ports/embedder.ts";
import { createHashEmbedder } from "../memory/hash-embedder.ts";

/** Spec 1's call of a model. */
export type ChatInvocation = {
  readonly prompt: { readonly system?: string; readonly user: string };
  readonly options?: { readonly temperature?: number; readonly max_tokens?: number; readonly timeoutMs?: number };
};

/** Spec 1's name for asking a model. */
export async function invokeChatModel(
  { prompt, options = {} }: ChatInvocation,
  model: ChatModel,
): Promise<{ readonly text: string; readonly model: string }> {
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
export async function generateEmbedding(text: string, embedder: Embedder = createHashEmbedder()): Promise<Embedding> {
  const [embedding] = await embedder.embed([text]);
  if (embedding === undefined) throw new Error(`The embedder "${embedder.model}" gave no vector.`);
  return embedding;
}
