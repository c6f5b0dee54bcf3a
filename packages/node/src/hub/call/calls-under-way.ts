/** The calls that a connection has been sent and has not answered yet. Each of them ends by its own time limit at the latest. */
export type CallsUnderWay = {
  readonly during: <T>(call: () => Promise<T>) => Promise<T>;
  /** Remembers those that are under way; the returned function says whether one of them still is. */
  readonly mark: () => () => boolean;
  /** Resolves when none is. */
  readonly idle: () => Promise<void>;
};

export function createCallsUnderWay(): CallsUnderWay {
  const underWay = new Set<object>();
  let whenIdle: PromiseWithResolvers<void> | undefined;

  return {
    during: async (call) => {
      const entry = {};
      underWay.add(entry);
      try {
        return await call();
      } finally {
        underWay.delete(entry);
        if (underWay.size === 0) whenIdle?.resolve();
      }
    },
    mark: () => {
      const marked = [...underWay];
      return () => marked.some((entry) => underWay.has(entry));
    },
    idle: () => {
      if (underWay.size === 0) return Promise.resolve();
      whenIdle ??= Promise.withResolvers();
      return whenIdle.promise;
    },
  };
}
