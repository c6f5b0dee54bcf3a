import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import type { BlobStore } from "../../src/ports/blob-store.ts";
import { sha256Hex } from "../../src/schema/values/hash.ts";

export type OpenedBlobs = {
  readonly blobs: BlobStore;
  /** Closes the store and opens what it left behind; absent when it leaves nothing. */
  readonly reopen?: () => Promise<BlobStore>;
};

/** What every BlobStore must do. `open` gives a fresh, empty one that takes blobs up to `maxBytes`. */
export function blobStoreContract(name: string, open: (maxBytes: number) => Promise<OpenedBlobs>): void {
  const opened: BlobStore[] = [];
  const fresh = async (maxBytes = 1_000_000): Promise<OpenedBlobs> => {
    const { blobs, reopen } = await open(maxBytes);
    opened.push(blobs);
    return reopen === undefined ? { blobs } : { blobs, reopen };
  };

  describe(`the blob store contract: ${name}`, () => {
    afterEach(async () => {
      for (const blobs of opened.splice(0)) await blobs.close();
    });

    it("gives back the bytes under the hash of their content", async () => {
      const { blobs } = await fresh();
      const bytes = new TextEncoder().encode("hello");
      const ref = await blobs.put(bytes, "text/plain");
      expect(ref).toEqual({ $blob: sha256Hex("hello"), bytes: 5, mediaType: "text/plain" });
      expect(await blobs.get(ref.$blob)).toEqual(bytes);
      expect(await blobs.has(ref.$blob)).toBe(true);
    });

    it("keeps any bytes, also none, and the same ones once", async () => {
      const { blobs } = await fresh();
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 2_000 }), async (bytes) => {
          const [first, second] = await Promise.all([blobs.put(bytes, "a/b"), blobs.put(bytes.slice(), "c/d")]);
          expect(second).toEqual({ ...first, mediaType: "c/d" });
          expect(await blobs.get(first.$blob)).toEqual(bytes);
        }),
        { numRuns: 30 },
      );
    });

    it("shares no memory with its callers", async () => {
      const { blobs } = await fresh();
      const bytes = Uint8Array.of(1, 2, 3);
      const { $blob } = await blobs.put(bytes, "a/b");
      bytes[0] = 9;
      const read = await blobs.get($blob);
      expect(read).toEqual(Uint8Array.of(1, 2, 3));
      read[0] = 9;
      expect(await blobs.get($blob)).toEqual(Uint8Array.of(1, 2, 3));
    });

    it.each(["0".repeat(64), "", "../../etc/passwd", "A".repeat(64), "ab", "\0"])("knows no blob %j", async (id) => {
      const { blobs } = await fresh();
      expect(await blobs.has(id)).toBe(false);
      await expect(blobs.get(id)).rejects.toMatchObject({ code: "blob_not_found" });
    });

    it("takes as many bytes as its bound says, and not one more", async () => {
      const { blobs } = await fresh(100);
      await blobs.put(new Uint8Array(100), "a/b");
      await expect(blobs.put(new Uint8Array(101), "a/b")).rejects.toMatchObject({ code: "blob_too_large" });
      expect(await blobs.has(sha256Hex(new Uint8Array(101)))).toBe(false);
    });

    it.each(["", "x".repeat(201)])("refuses a media type that no reference can hold", async (mediaType) => {
      const { blobs } = await fresh();
      await expect(blobs.put(new Uint8Array(1), mediaType)).rejects.toMatchObject({ code: "input_invalid" });
    });

    it("refuses everything once it is closed, and keeps what it had if it can", async () => {
      const { blobs, reopen } = await fresh();
      const { $blob } = await blobs.put(Uint8Array.of(7), "a/b");
      await blobs.close();
      await blobs.close();
      for (const refused of [blobs.get($blob), blobs.has($blob), blobs.put(Uint8Array.of(7), "a/b")]) {
        await expect(refused).rejects.toMatchObject({ code: "store_closed" });
      }
      const again = (await reopen?.()) ?? (await fresh()).blobs;
      if (reopen === undefined) await again.put(Uint8Array.of(7), "a/b");
      opened.push(again);
      expect(await again.get($blob)).toEqual(Uint8Array.of(7));
    });
  });
}
