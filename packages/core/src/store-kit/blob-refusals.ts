import type { ErgonError } from "../errors/ergon-error.ts";
import { storeError, type StoreErrorCode } from "../errors/store.ts";
import { usageError } from "../errors/usage.ts";

/** As `BlobRef` has it. */
const MAX_MEDIA_TYPE_CHARS = 200;

/** What every blob store refuses before it touches anything: too many bytes, no media type. */
export function checkBlob(bytes: Uint8Array, mediaType: string, maxBytes: number): void {
  if (bytes.byteLength > maxBytes) {
    throw storeError(
      "blob_too_large",
      `A blob of ${String(bytes.byteLength)} bytes is larger than the ${String(maxBytes)} that are taken.`,
      { details: { bytes: bytes.byteLength, maxBytes } },
    );
  }
  if (mediaType === "" || mediaType.length > MAX_MEDIA_TYPE_CHARS) {
    throw usageError("input_invalid", `A blob's media type has 1 to ${String(MAX_MEDIA_TYPE_CHARS)} characters.`);
  }
}

export function missingBlob(id: string): ErgonError<StoreErrorCode> {
  return storeError("blob_not_found", `No blob "${id.slice(0, 64)}".`, { details: { id: id.slice(0, 64) } });
}
