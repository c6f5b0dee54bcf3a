import { describe, expect, it } from "vitest";
import { storeError } from "../../../errors/store.ts";
import type { BlobRef } from "../../../schema/blob.ts";
import type { BlobCache } from "./blob-cache.ts";
import { MAX_WHOLE_CONTEXT_BYTES, wholeContext } from "./whole-context.ts";

const ref = (digit: string, bytes: number): BlobRef => ({
  $blob: digit.repeat(64),
  bytes,
  mediaType: "application/json",
});
const cache: BlobCache = {
  peek: () => undefined,
  load: async (_, { $blob }) => {
    if ($blob.startsWith("f")) throw storeError("blob_not_found", "No blob.");
    return `value ${$blob.charAt(0)}`;
  },
};

describe("the large values of a context", () => {
  it("are given whole up to the bound together, and as references beyond it", async () => {
    const [fits, over] = [ref("a", MAX_WHOLE_CONTEXT_BYTES), ref("b", 1)];
    const whole = await wholeContext([fits, over], cache, "o");
    expect(whole({ fits, over, small: 1 })).toEqual({ fits: "value a", over, small: 1 });
    const tooLarge = ref("c", MAX_WHOLE_CONTEXT_BYTES + 1);
    expect((await wholeContext([tooLarge, over], cache, "o"))({ tooLarge, over })).toEqual({
      tooLarge,
      over: "value b",
    });
  });

  it("stay references where they are another's, or no JSON", async () => {
    const [another, bytes] = [ref("f", 1), { ...ref("d", 1), mediaType: "image/png" }];
    const whole = await wholeContext([another, bytes], cache, "o");
    expect(whole({ another, bytes })).toEqual({ another, bytes });
  });
});
