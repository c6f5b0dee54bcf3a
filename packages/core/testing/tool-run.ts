import { createMemoryBlobStore } from "../src/memory/blob-store.ts";
import { silentLogger } from "../src/memory/logger.ts";
import { noSandbox } from "../src/tools/gate/run-sandbox.ts";
import type { ToolRun } from "../src/tools/tool.ts";

/** What a tool gets as its last argument, for calling its function by hand; every blob that it puts it can get. */
export function createToolRun(given: Partial<ToolRun> = {}): ToolRun {
  const blobs = createMemoryBlobStore();
  return {
    signal: new AbortController().signal,
    owner: "ada",
    idempotencyKey: "key",
    progress: () => undefined,
    logger: silentLogger,
    context: {},
    blobs: { put: (bytes, mediaType) => blobs.put(bytes, mediaType), get: ({ $blob }) => blobs.get($blob) },
    sandbox: noSandbox,
    dataRoots: [],
    deniedPaths: [],
    ...given,
  };
}
