import type { Clock, Embedder } from "@ergon/core";
import { modelError } from "@ergon/core/schema";
import { MAX_EMBEDDED_CHARS } from "@ergon/core/store-kit";
import { boundedFetch } from "../models/bounded-fetch.ts";
import type { ModelService } from "../models/choose-model.ts";
import { type LoadedProvider, loadProvider, loadSdk } from "../models/load-provider.ts";
import { modelFailure } from "../models/model-failure.ts";
import { unitVector } from "./unit-vector.ts";

const TIMEOUT_MS = 30_000;
const MAX_RETRIES = 2;

/** A provider's embeddings, over the Vercel AI SDK; loaded at the first text. */
export function createServiceEmbedder(deps: {
  readonly service: ModelService;
  readonly clock: Clock;
  readonly fetch?: typeof globalThis.fetch;
}): Embedder {
  const { service, clock } = deps;
  const { id } = service;
  let loading: Promise<LoadedProvider> | undefined;
  return {
    model: id,
    embed: async (texts, { signal } = {}) => {
      if (texts.length === 0) return [];
      const limit = AbortSignal.timeout(TIMEOUT_MS);
      try {
        loading ??= loadProvider(service, boundedFetch(deps.fetch));
        const [{ embedMany }, provider] = await Promise.all([loadSdk(), loading]);
        const { embeddings } = await embedMany({
          model: provider.embedding(),
          values: texts.map(prepared),
          maxRetries: MAX_RETRIES,
          abortSignal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
        });
        return embeddings.map((vector) => ({ model: id, dimension: vector.length, vector: unitVector(vector) }));
      } catch (thrown) {
        if (signal?.aborted === true) throw modelError("cancelled", `${id} was not waited for any longer.`);
        if (limit.aborted) throw modelError("model_timeout", `${id} did not answer within ${String(TIMEOUT_MS)} ms.`);
        throw modelFailure(thrown, id, clock.now()).error;
      }
    },
  };
}

/** Services refuse an empty text. */
function prepared(text: string): string {
  const cut = text.slice(0, MAX_EMBEDDED_CHARS);
  return cut.trim() === "" ? "." : cut;
}
