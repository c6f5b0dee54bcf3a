import { constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { join } from "node:path";
import { storeError } from "@ergon/core/schema";
import { type BlobStore, checkBlob, MAX_BLOB_BYTES, missingBlob } from "@ergon/core/store-kit";
import { makeFolder } from "../ownership/make-folder.ts";
import { checkOwnFolder } from "../ownership/own-file.ts";
import { contentHash } from "./content-hash.ts";
import { absent, fromFileSystem } from "./file-errors.ts";
import { createWholeWrites, removeLeftovers } from "./write-whole.ts";

export type FileBlobOptions = { readonly folder: string; readonly maxBytes?: number };

/**
 * Blobs as files named by their content: `ab/cdef…`. A blob is written elsewhere, synced, and renamed into its place:
 * what has the name has the bytes. The media type belongs to the reference, not to the file.
 */
export function openFileBlobStore({ folder, maxBytes = MAX_BLOB_BYTES }: FileBlobOptions): BlobStore {
  const scratch = join(folder, "tmp");
  const whole = createWholeWrites(scratch);
  let closed = false;
  try {
    makeFolder(scratch);
    for (const own of [folder, scratch]) checkOwnFolder(own);
    removeLeftovers(scratch);
  } catch (thrown) {
    throw fromFileSystem(thrown, `opening the blob folder ${folder}`);
  }

  const placeOf = (id: string): string => join(folder, id.slice(0, 2), id.slice(2));

  async function during<T>(doing: string, act: () => Promise<T>): Promise<T> {
    if (closed) throw storeError("store_closed", "The blob store is closed.");
    try {
      return await act();
    } catch (thrown) {
      throw fromFileSystem(thrown, doing);
    }
  }

  return {
    put: (given, mediaType) =>
      during("writing a blob", async () => {
        checkBlob(given, mediaType, maxBytes);
        // The caller may change its bytes while this one waits.
        const bytes = given.slice();
        const id = await contentHash(bytes);
        const path = placeOf(id);
        if ((await sizeOf(path)) !== bytes.byteLength) await whole.write(path, bytes);
        return { $blob: id, bytes: bytes.byteLength, mediaType };
      }),
    get: (id) =>
      during("reading a blob", async () => {
        const bytes = ID.test(id) ? await contentOf(placeOf(id)) : undefined;
        if (bytes === undefined) throw missingBlob(id);
        if ((await contentHash(bytes)) === id) return bytes;
        throw storeError(
          "blob_corrupt",
          `The bytes of blob ${id} are no longer those it was named after. Restore the file from a copy.`,
          { details: { id } },
        );
      }),
    has: (id) => during("looking for a blob", async () => ID.test(id) && (await sizeOf(placeOf(id))) !== undefined),
    close: async () => {
      closed = true;
    },
  };
}

const ID = /^[0-9a-f]{64}$/;
/** Neither through a link nor from a pipe; Windows has neither flag. */
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

async function contentOf(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const read = await open(path, READ).catch(absent);
  if (read === undefined) return undefined;
  try {
    if (!(await read.stat()).isFile()) return undefined;
    return new Uint8Array(await read.readFile());
  } finally {
    await read.close();
  }
}

async function sizeOf(path: string): Promise<number | undefined> {
  const found = await lstat(path).catch(absent);
  return found?.isFile() === true ? found.size : undefined;
}
