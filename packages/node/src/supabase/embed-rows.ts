import type { Embedder, ErgonError } from "@ergon/core";
import { storeError } from "@ergon/core/schema";
import type { SupabaseClient } from "@supabase/supabase-js";

const EMBED_BATCH = 64;
/** A database with more rows than this is embedded by its own pipeline. */
const MAX_EMBEDDED_ROWS = 100_000;

type WaitingRow = { readonly kind: string; readonly id: string; readonly embedding_text: string };

/**
 * Gives every row a vector of this model, also those that have one of another, and measures anew how alike things look
 * to it. Says how many rows it changed; stops between two batches leave nothing half done.
 */
export async function embedRows(client: SupabaseClient, embedder: Embedder): Promise<number> {
  const { model } = embedder;
  let changed = 0;
  while (changed < MAX_EMBEDDED_ROWS) {
    const waiting = taken<WaitingRow[]>(await client.rpc("rows_to_embed", { for_model: model, max_rows: EMBED_BATCH }));
    if (waiting.length === 0) break;
    const embeddings = await embedder.embed(waiting.map(({ embedding_text }) => embedding_text));
    const embedded = waiting.map(({ kind, id }, index) => ({
      kind,
      id,
      embedding: JSON.stringify(embeddings[index]?.vector),
    }));
    const stored = taken<number>(await client.rpc("store_embeddings", { for_model: model, embedded }));
    if (stored === 0) throw failed("no vector was stored");
    changed += stored;
  }
  if (changed > 0) taken(await client.rpc("measure_match_thresholds", { for_model: model }));
  return changed;
}

function taken<T>({ data, error }: { readonly data: unknown; readonly error: { readonly message: string } | null }): T {
  if (error !== null) throw failed(error.message);
  return data as T;
}

function failed(reason: string): ErgonError {
  return storeError("store_unavailable", `Vectors could not be stored: ${reason}.`, { retryable: true });
}
