import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import type { AllowedFile } from "./allowed-file.ts";
import { MAX_FILE_BYTES } from "./allowed-file.ts";
import { dataError } from "./data-error.ts";

const CHUNK_BYTES = 1024 * 1024;

export type SourceFacts = { readonly bytes: number; readonly sha256: string; readonly modifiedAt: string };

/**
 * Copies a file to where the database may read it, under a name of ours: no name that somebody chose is ever taken for a
 * pattern, and what is read cannot change while it is read. Throws `file_changed` when it changed before that.
 */
export async function copySource(
  { handle, path }: AllowedFile,
  target: string,
  signal: AbortSignal,
): Promise<SourceFacts> {
  const before = await handle.stat();
  const hash = createHash("sha256");
  const copy = await open(target, "wx", 0o600);
  let bytes = 0;
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, bytes);
      if (bytesRead === 0) break;
      bytes += bytesRead;
      if (bytes > MAX_FILE_BYTES) throw dataError("file_too_large", `"${path}" grows without end.`);
      const part = chunk.subarray(0, bytesRead);
      hash.update(part);
      await copy.write(part);
    }
  } finally {
    await copy.close();
  }
  const after = await handle.stat();
  if (after.mtimeMs !== before.mtimeMs || after.size !== before.size || bytes !== before.size) {
    throw dataError("file_changed", `"${path}" changed while it was read. Try again.`, { retryable: true });
  }
  return { bytes, sha256: hash.digest("hex"), modifiedAt: before.mtime.toISOString() };
}
