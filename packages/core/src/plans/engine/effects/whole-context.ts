import { isErgonError } from "../../../errors/ergon-error.ts";
import { type BlobRef, isBlobRef, JSON_MEDIA_TYPE } from "../../../schema/blob.ts";
import type { Json } from "../../../schema/values/json.ts";
import type { Tool, ToolContext } from "../../../tools/tool.ts";
import type { BlobCache } from "./blob-cache.ts";

/** Values that are kept as blobs are given whole up to this size together; beyond it a tool gets the reference. */
export const MAX_WHOLE_CONTEXT_BYTES = 32 * 1024 * 1024;

/** Tools of specs 1 and 2 are written against a context of values. Others get arguments, and references in those. */
export function takesContext(tool: Tool | undefined): boolean {
  return tool?.origin === "action" || tool?.origin === "registered" || tool?.origin === "builtin";
}

/** Reads the large values among a context; what it returns puts them where their references are. */
export async function wholeContext(
  refs: readonly BlobRef[],
  cache: BlobCache,
  owner: string,
): Promise<(context: ToolContext) => ToolContext> {
  const values = new Map<string, Json>();
  let room = MAX_WHOLE_CONTEXT_BYTES;
  for (const ref of refs) {
    if (ref.mediaType !== JSON_MEDIA_TYPE || values.has(ref.$blob) || ref.bytes > room) continue;
    const found = cache.peek(owner, ref) ?? (await loadOwn(cache, owner, ref));
    if (found === undefined) continue;
    values.set(ref.$blob, found.value);
    room -= ref.bytes;
  }
  const whole = (value: unknown): unknown => (isBlobRef(value) ? (values.get(value.$blob) ?? value) : value);
  return (context) => Object.fromEntries(Object.entries(context).map(([key, value]) => [key, whole(value)]));
}

/** A result may name a blob that is not its owner's: that stays the reference that it is. */
async function loadOwn(cache: BlobCache, owner: string, ref: BlobRef): Promise<{ readonly value: Json } | undefined> {
  try {
    return { value: await cache.load(owner, ref) };
  } catch (thrown) {
    if (isErgonError(thrown) && thrown.code === "blob_not_found") return undefined;
    throw thrown;
  }
}
