import { storeError } from "@ergon/core/schema";

/** Requests that wait for their turn; more are refused. */
export const MAX_WAITING = 1_000;

/** Runs one piece of work after the other, whatever became of the one before. */
export function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return async (work) => {
    if (waiting >= MAX_WAITING) {
      throw storeError("store_unavailable", `${MAX_WAITING} requests wait for the embedded database already.`, {
        retryable: true,
      });
    }
    waiting += 1;
    const turn = last.then(work).finally(() => (waiting -= 1));
    last = turn.catch(() => undefined);
    return turn;
  };
}
