import { z } from "zod";

/** Values larger than this leave the journal for the blob store. */
export const INLINE_LIMIT_BYTES = 64 * 1024;

export const BlobRef = z.strictObject({
  $blob: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.int().nonnegative(),
  mediaType: z.string().min(1).max(200),
});
export type BlobRef = z.infer<typeof BlobRef>;

export const JSON_MEDIA_TYPE = "application/json";

export function isBlobRef(value: unknown): value is BlobRef {
  return typeof value === "object" && value !== null && "$blob" in value && BlobRef.safeParse(value).success;
}
