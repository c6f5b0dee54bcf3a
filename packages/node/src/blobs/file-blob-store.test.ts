import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { blobStoreContract } from "@ergon/core/testing/contracts";
import { openFileBlobStore } from "./file-blob-store.ts";
import { LEFTOVER_MS } from "./write-whole.ts";

const root = mkdtempSync(join(tmpdir(), "ergon-blobs-"));
let made = 0;
afterAll(() => rmSync(root, { recursive: true, force: true }));

blobStoreContract("files", async (maxBytes) => {
  const folder = freshFolder();
  const blobs = openFileBlobStore({ folder, maxBytes });
  return {
    blobs,
    reopen: async () => {
      await blobs.close();
      return openFileBlobStore({ folder, maxBytes });
    },
  };
});

describe("file blobs", () => {
  it("are files named by their content, readable by their owner alone", async () => {
    const folder = freshFolder();
    const { $blob } = await openFileBlobStore({ folder }).put(Buffer.from("hello"), "text/plain");
    const path = join(folder, $blob.slice(0, 2), $blob.slice(2));
    expect(readFileSync(path, "utf8")).toBe("hello");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder, "tmp"))).toEqual([]);
  });

  it("are refused when their bytes have changed, and healed by writing them again when their length has", async () => {
    const folder = freshFolder();
    const blobs = openFileBlobStore({ folder });
    const bytes = Buffer.from("precious");
    const { $blob } = await blobs.put(bytes, "text/plain");
    const path = join(folder, $blob.slice(0, 2), $blob.slice(2));
    for (const damaged of ["previous", "precio", ""]) {
      writeFileSync(path, damaged);
      await expect(blobs.get($blob)).rejects.toMatchObject({ code: "blob_corrupt" });
    }
    await blobs.put(bytes, "text/plain");
    expect(Buffer.from(await blobs.get($blob)).toString()).toBe("precious");
  });

  it("hash large content as they do small", async () => {
    const folder = freshFolder();
    const blobs = openFileBlobStore({ folder });
    const bytes = new Uint8Array(3_000_000).fill(7);
    const { $blob } = await blobs.put(bytes, "a/b");
    expect((await blobs.get($blob)).byteLength).toBe(bytes.byteLength);
  });

  it("leave nothing half written: old scratch files go when the store opens, young ones stay", () => {
    const folder = freshFolder();
    mkdirSync(join(folder, "tmp"), { recursive: true });
    const [old, young] = ["old", "young"].map((name) => join(folder, "tmp", name));
    for (const path of [old, young]) writeFileSync(path ?? "", "half");
    const longAgo = new Date(Date.now() - LEFTOVER_MS - 60_000);
    utimesSync(old ?? "", longAgo, longAgo);
    openFileBlobStore({ folder });
    expect([existsSync(old ?? ""), existsSync(young ?? "")]).toEqual([false, true]);
  });

  it("say what is wrong with a folder that cannot be used", async () => {
    const file = join(freshFolder(), "file");
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, "");
    expect(() => openFileBlobStore({ folder: file })).toThrow(
      expect.objectContaining({ code: "store_unavailable", retryable: false }),
    );
    const folder = freshFolder();
    const blobs = openFileBlobStore({ folder });
    rmSync(join(folder, "tmp"), { recursive: true });
    await expect(blobs.put(Buffer.from("x"), "a/b")).rejects.toMatchObject({
      code: "store_unavailable",
      details: { errno: "ENOENT" },
    });
  });
});

function freshFolder(): string {
  made += 1;
  return join(root, String(made));
}
