import { describe, expect, it } from "vitest";
import { createMemoryBlobStore } from "../../../memory/blob-store.ts";
import { createMemoryStateStore } from "../../../memory/state-store.ts";
import type { BlobRef } from "../../../schema/blob.ts";
import { createBlobCache } from "./blob-cache.ts";

async function kept(...texts: string[]): Promise<{ cache: ReturnType<typeof createBlobCache>; refs: BlobRef[] }> {
  const store = createMemoryStateStore();
  const blobs = createMemoryBlobStore();
  const refs: BlobRef[] = [];
  for (const text of texts)
    refs.push(await blobs.put(new TextEncoder().encode(JSON.stringify(text)), "application/json"));
  const at = new Date(0).toISOString();
  await store.commit({ sessionId: "", owner: "me", blobs: refs.map((ref) => ({ ref, at })) });
  return { cache: createBlobCache({ store, blobs }, 20), refs };
}

describe("the blob cache", () => {
  it("keeps what was used last within its bytes", async () => {
    const { cache, refs } = await kept("aaaaaa", "bbbbbb", "cccccc");
    const [a, b, c] = refs as [BlobRef, BlobRef, BlobRef];
    await cache.load("me", a);
    await cache.load("me", b);
    expect(cache.peek("me", a)).toMatchObject({ value: "aaaaaa" });
    await cache.load("me", c);
    expect(cache.peek("me", b)).toBeUndefined();
    expect(cache.peek("me", a)).toBeDefined();
  });

  it("gives a blob that is larger than all of it, and does not keep it", async () => {
    const { cache, refs } = await kept("x".repeat(30));
    const [large] = refs as [BlobRef];
    expect(await cache.load("me", large)).toBe("x".repeat(30));
    expect(cache.peek("me", large)).toBeUndefined();
  });

  it("does not give one owner what another has", async () => {
    const { cache, refs } = await kept("mine");
    const [mine] = refs as [BlobRef];
    await cache.load("me", mine);
    expect(cache.peek("you", mine)).toBeUndefined();
    await expect(cache.load("you", mine)).rejects.toMatchObject({ code: "blob_not_found" });
  });
});
