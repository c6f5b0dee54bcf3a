/** So many at once, so many waiting, and the rest is turned away. */
export type Semaphore = {
  /** Resolves when it is this one's turn; throws what `refuse` makes when too many wait, or the signal's reason. */
  readonly enter: (signal?: AbortSignal) => Promise<void>;
  readonly leave: () => void;
  readonly waiting: () => number;
  readonly inside: () => number;
};

export type SemaphoreOptions = {
  readonly maxInside: number;
  readonly maxWaiting: number;
  readonly refuse: () => Error;
};

export function createSemaphore({ maxInside, maxWaiting, refuse }: SemaphoreOptions): Semaphore {
  const queue = new Set<() => void>();
  let inside = 0;
  return {
    enter: async (signal) => {
      signal?.throwIfAborted();
      if (inside < maxInside) {
        inside += 1;
        return;
      }
      if (queue.size >= maxWaiting) throw refuse();
      await new Promise<void>((resolve, reject) => {
        const turn = (): void => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        };
        const onAbort = (): void => {
          queue.delete(turn);
          reject(signal?.reason as Error);
        };
        queue.add(turn);
        signal?.addEventListener("abort", onAbort, { once: true });
      });
    },
    leave: () => {
      const [next] = queue;
      if (next === undefined) {
        inside -= 1;
        return;
      }
      // The place passes on: nobody can slip in between.
      queue.delete(next);
      next();
    },
    waiting: () => queue.size,
    inside: () => inside,
  };
}
