import { hash, subtle } from "node:crypto";

/** Larger content is hashed on another thread, so that the event loop goes on. */
const MAX_INLINE_BYTES = 256 * 1024;

export async function contentHash(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  if (bytes.byteLength <= MAX_INLINE_BYTES) return hash("sha256", bytes);
  return Buffer.from(await subtle.digest("SHA-256", bytes)).toString("hex");
}
