import { isErgonError } from "../../../errors/ergon-error.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Logger } from "../../../ports/logger.ts";

export const FIRST_WRITE_RETRY_MS = 50;
export const LAST_WRITE_RETRY_MS = 5_000;

export type Patience = { readonly clock: Clock; readonly logger: Logger; readonly stopping: AbortSignal };

/**
 * Repeats work that failed because the store could not take it (a full disk, a lock): what a tool has done must not be
 * forgotten for that. Ends when it succeeds, when it fails in any other way, or when the engine stops.
 */
export async function untilWritten<T>(patience: Patience, work: () => Promise<T>): Promise<T> {
  for (let waitMs = FIRST_WRITE_RETRY_MS; ; waitMs = Math.min(waitMs * 2, LAST_WRITE_RETRY_MS)) {
    try {
      return await work();
    } catch (thrown) {
      if (!isErgonError(thrown) || thrown.code !== "store_unavailable" || patience.stopping.aborted) throw thrown;
      patience.logger.warn({ error: thrown.toJSON(), retryInMs: waitMs }, "The store cannot be written; trying again.");
      await patience.clock.sleep(waitMs, patience.stopping);
    }
  }
}
