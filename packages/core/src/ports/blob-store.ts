import type { BlobRef } from "../schema/blob.ts";

/** One blob may not be larger than this. */
export const MAX_BLOB_BYTES = 1024 * 1024 * 1024;

/**
 * Content-addressed bytes: the id is the SHA-256 of the content, so writing twice is writing once. A blob is whole
 * or absent, never half there. Who may read it is the state store's knowledge (`BlobRow.owner`).
 */
export type BlobStore = {
  /** Durable when it resolves. Throws `blob_too_large`. */
  put(bytes: Uint8Array, mediaType: string): Promise<BlobRef>;
  /** Throws `blob_not_found`, or `blob_corrupt` when the bytes no longer match the id. */
  get(id: string): Promise<Uint8Array>;
  has(id: string): Promise<boolean>;
  close(): Promise<void>;
};
