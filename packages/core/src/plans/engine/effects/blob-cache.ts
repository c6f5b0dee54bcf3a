import type { BlobStore } from "../../../ports/blob-store.ts";
import type { StateStore } from "../../../ports/state-store.ts";
import type { BlobRef } from "../../../schema/blob.ts";
import type { Json } from "../../../schema/values/json.ts";
import { ownedBlobs } from "../../../tools/gate/owned-blobs.ts";

/** Parsed blobs that stay in memory between steps, over all runs. */
const MAX_BLOB_CACHE_BYTES = 64 * 1024 * 1024;

export type BlobCache = {
  readonly peek: (owner: string, ref: BlobRef) => { readonly value: Json } | undefined;
  /** Throws `blob_not_found` for what is not the owner's: a tool's output may name any blob. */
  readonly load: (owner: string, ref: BlobRef) => Promise<Json>;
};

/** Least recently used goes first. One blob larger than the whole cache is parsed, used and not kept. */
export function createBlobCache(
  { store, blobs }: { readonly store: StateStore; readonly blobs: BlobStore },
  maxBytes: number = MAX_BLOB_CACHE_BYTES,
): BlobCache {
  const kept = new Map<string, { readonly value: Json; readonly bytes: number }>();
  let total = 0;
  const keep = (id: string, value: Json, bytes: number): void => {
    if (bytes > maxBytes || kept.has(id)) return;
    kept.set(id, { value, bytes });
    total += bytes;
    for (const [oldest, entry] of kept) {
      if (total <= maxBytes) break;
      kept.delete(oldest);
      total -= entry.bytes;
    }
  };
  return {
    peek: (owner, ref) => {
      const key = keyOf(owner, ref);
      const entry = kept.get(key);
      if (entry === undefined) return undefined;
      kept.delete(key);
      kept.set(key, entry);
      return entry;
    },
    load: async (owner, ref) => {
      const bytes = await ownedBlobs({ store, blobs }, owner).get(ref);
      const value = JSON.parse(new TextDecoder().decode(bytes)) as Json;
      keep(keyOf(owner, ref), value, bytes.byteLength);
      return value;
    },
  };
}

function keyOf(owner: string, ref: BlobRef): string {
  return `${ref.$blob} ${owner}`;
}
