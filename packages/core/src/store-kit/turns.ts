/** Work under one name is done one after another; work under different names at the same time. */
export function createTurns(): <T>(name: string, work: () => Promise<T>) => Promise<T> {
  const busy = new Map<string, Promise<void>>();
  return async (name, work) => {
    for (let other = busy.get(name); other !== undefined; other = busy.get(name)) await other;
    const { promise: done, resolve } = Promise.withResolvers<void>();
    busy.set(name, done);
    try {
      return await work();
    } finally {
      busy.delete(name);
      resolve();
    }
  };
}
