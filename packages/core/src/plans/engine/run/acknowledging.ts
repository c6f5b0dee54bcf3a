import { toErgonError } from "../../../errors/ergon-error.ts";
import type { Logger } from "../../../ports/logger.ts";
import type { StateStore } from "../../../ports/state-store.ts";
import type { EmbeddedEngine } from "../embedded-engine.ts";

/**
 * An engine whose answers survive the loss of power, not only the death of the process: for whoever tells them outside
 * of it. What was written meanwhile is synced with them, so those who are answered at the same time share one sync.
 */
export function acknowledging(engine: EmbeddedEngine, store: Pick<StateStore, "sync">): EmbeddedEngine {
  const onDisk = async <T>(answer: Promise<T>): Promise<T> => {
    const told = await answer;
    await store.sync();
    return told;
  };
  return {
    ...engine,
    createSession: (request) => onDisk(engine.createSession(request)),
    startRun: (request) => onDisk(engine.startRun(request)),
    executePlan: (request) => onDisk(engine.executePlan(request)),
    callTool: async (request) => {
      try {
        return await engine.callTool(request);
      } finally {
        // What a call failed with is recorded as well.
        await store.sync();
      }
    },
    resume: (request) => onDisk(engine.resume(request)),
    cancel: (request) => onDisk(engine.cancel(request)),
    fork: (request) => onDisk(engine.fork(request)),
    readSession: (request) => {
      const view = engine.readSession(request);
      return request.waitMs === undefined ? view : onDisk(view);
    },
    settled: (request) => onDisk(engine.settled(request)),
  };
}

/**
 * Has the disk take what sessions come to, though nobody waits for it: who reads of an end is then at most one sync ahead of
 * the disk. Ends when what it returns is called.
 */
export function syncEnds(store: Pick<StateStore, "sync" | "watch">, logger: Logger): () => void {
  return store.watch((news) => {
    if (!news.some(({ types }) => types.some((type) => type.startsWith("session-")))) return;
    store.sync().catch((thrown: unknown) => {
      const error = toErgonError(thrown, "store_unavailable").toJSON();
      logger.error({ error }, "fsync failed: recent session results may be lost on power failure.");
    });
  });
}
