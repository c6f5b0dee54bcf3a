import type { Writable } from "node:stream";

/**
 * Writes what comes in one turn of the event loop at once: a pipe costs a system call for each write, and a busy client's
 * answers come many at a time.
 */
export function gatheredOutput(output: Writable): Writable {
  let gathering = false;
  const gather = (): void => {
    if (gathering) return;
    gathering = true;
    output.cork();
    setImmediate(() => {
      gathering = false;
      output.uncork();
    });
  };
  return new Proxy(output, {
    get: (target, key) => {
      const field: unknown = Reflect.get(target, key, target);
      if (typeof field !== "function") return field;
      if (key === "write") {
        return (...args: Parameters<Writable["write"]>) => {
          gather();
          return target.write(...args);
        };
      }
      return field.bind(target) as unknown;
    },
  });
}
