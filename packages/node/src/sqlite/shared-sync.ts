export type SharedSync = {
  /** Something was written that is not on the disk yet. */
  readonly grew: () => void;
  /** Resolves when everything written so far is on the disk; at once when it is. */
  readonly sync: () => Promise<void>;
};

/** One sync at a time: those who ask while one is under way share the next, which covers all that is written by then. */
export function createSharedSync(flush: () => Promise<void>): SharedSync {
  let written = 0;
  let onDisk = 0;
  let running: { readonly covers: number; readonly promise: Promise<void> } | undefined;
  let next: PromiseWithResolvers<void> | undefined;

  function begin(): Promise<void> {
    const covers = written;
    const promise = flush().then(
      () => ended(covers),
      (thrown: unknown) => {
        ended(onDisk);
        throw thrown;
      },
    );
    running = { covers, promise };
    return promise;
  }

  function ended(covered: number): void {
    onDisk = covered;
    running = undefined;
    if (next === undefined) return;
    const { resolve } = next;
    next = undefined;
    resolve(begin());
  }

  return {
    grew: () => {
      written += 1;
    },
    sync: () => {
      if (onDisk === written) return Promise.resolve();
      if (running === undefined) return begin();
      if (running.covers === written) return running.promise;
      next ??= Promise.withResolvers();
      return next.promise;
    },
  };
}
