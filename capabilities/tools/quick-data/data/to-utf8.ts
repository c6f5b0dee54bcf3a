import { open, rename } from "node:fs/promises";

const CHUNK_BYTES = 1024 * 1024;

/**
 * Writes a text file anew as UTF-8 where it is something else, and says what it was: by its mark UTF-16, else the
 * Windows code page that Western files without one have (latin-1 is a part of it). Undefined where it is UTF-8 already.
 */
export async function toUtf8(file: string, signal: AbortSignal): Promise<string | undefined> {
  const encoding = await encodingOf(file, signal);
  if (encoding === undefined) return undefined;
  const decoder = new TextDecoder(encoding);
  const written = `${file}.utf8`;
  const target = await open(written, "wx", 0o600);
  try {
    await chunksOf(file, signal, async (chunk) => void (await target.write(decoder.decode(chunk, { stream: true }))));
    await target.write(decoder.decode());
  } finally {
    await target.close();
  }
  await rename(written, file);
  return encoding;
}

async function encodingOf(file: string, signal: AbortSignal): Promise<string | undefined> {
  const strict = new TextDecoder("utf-8", { fatal: true });
  let start: Uint8Array | undefined;
  try {
    await chunksOf(file, signal, (chunk) => {
      start ??= chunk.slice(0, 2);
      strict.decode(chunk, { stream: true });
    });
    strict.decode();
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    const [first, second] = start ?? [];
    if (first === 0xff && second === 0xfe) return "utf-16le";
    return first === 0xfe && second === 0xff ? "utf-16be" : "windows-1252";
  }
}

async function chunksOf(
  file: string,
  signal: AbortSignal,
  each: (chunk: Uint8Array) => void | Promise<void>,
): Promise<void> {
  const handle = await open(file, "r");
  try {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, null);
      if (bytesRead === 0) return;
      await each(buffer.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
}
