import { storeError } from "../errors/store.ts";
import { type BlobStore, MAX_BLOB_BYTES } from "../ports/blob-store.ts";
import { sha256Hex } from "../schema/values/hash.ts";
import { checkBlob, missingBlob } from "../store-kit/blob-refusals.ts";

/** Blobs that live as long as the process. */
export function createMemoryBlobStore(options: { readonly maxBytes?: number } = {}): BlobStore {
  const maxBytes = options.maxBytes ?? MAX_BLOB_BYTES;
  const blobs = new Map<string, Uint8Array>();
  let closed = false;

  async function open<T>(act: () => T): Promise<T> {
    if (closed) throw storeError("store_closed", "The blob store is closed.");
    return act();
  }

  return {
    put: (bytes, mediaType) =>
      open(() => {
        checkBlob(bytes, mediaType, maxBytes);
        const id = sha256Hex(bytes);
        if (!blobs.has(id)) blobs.set(id, bytes.slice());
        return { $blob: id, bytes: bytes.byteLength, mediaType };
      }),
    get: (id) =>
      open(() => {
        const bytes = blobs.get(id);
        if (bytes === undefined) throw missingBlob(id);
        return bytes.slice();
      }),
    has: (id) => open(() => blobs.has(id)),
    close: async () => {
      closed = true;
      blobs.clear();
    },
  };
}
