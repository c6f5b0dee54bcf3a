import { storeError } from "../../errors/store.ts";
import type { BlobStore } from "../../ports/blob-store.ts";
import type { ToolBlobs } from "../tool.ts";

export type BlobParts = {
  /** Knows whose a blob is. */
  readonly store: { readBlobRow(id: string, owner: string): Promise<object | undefined> };
  readonly blobs: Pick<BlobStore, "put" | "get">;
};

/** The blob store by one owner's rights: what another made is not there. */
export function ownedBlobs({ store, blobs }: BlobParts, owner: string): ToolBlobs {
  return {
    put: (bytes, mediaType) => blobs.put(bytes, mediaType),
    get: async ({ $blob }) => {
      if ((await store.readBlobRow($blob, owner)) === undefined) {
        throw storeError("blob_not_found", `No blob "${$blob}".`);
      }
      return blobs.get($blob);
    },
  };
}
