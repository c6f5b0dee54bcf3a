import { INLINE_LIMIT_BYTES, JSON_MEDIA_TYPE, type BlobRef } from "../../schema/blob.ts";
import { sha256Hex } from "../../schema/values/hash.ts";
import type { Json } from "../../schema/values/json.ts";

/** Bytes that their holder puts into the blob store before it commits what refers to them. */
export type PendingBlob = { readonly ref: BlobRef; readonly bytes: Uint8Array };

export type Offloaded = { readonly value: Json; readonly blob?: PendingBlob };

/** A value as journals keep it: itself when it is small, else a reference to a blob that is still to be put. */
export function offload(value: Json): Offloaded {
  // A scalar that is not a long string cannot be large, and most values are one.
  if (typeof value !== "object" && (typeof value !== "string" || value.length < 1_000)) return { value };
  return offloadText(value, JSON.stringify(value));
}

/** The same for a value whose JSON text is known already. */
export function offloadText(value: Json, text: string): Offloaded {
  if (fitsInline(text)) return { value };
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= INLINE_LIMIT_BYTES) return { value };
  const ref: BlobRef = { $blob: sha256Hex(bytes), bytes: bytes.length, mediaType: JSON_MEDIA_TYPE };
  return { value: ref, blob: { ref, bytes } };
}

/** Surely small: no character takes more than three bytes of UTF-8 for each unit of its UTF-16. */
function fitsInline(text: string): boolean {
  return text.length * 3 <= INLINE_LIMIT_BYTES;
}
