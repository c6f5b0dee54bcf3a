export type Lazy<T> = (() => T) & {
  /** What was opened, or is being opened; undefined before the first use. */
  readonly opened: () => T | undefined;
};

/** Opens a service on first use, once for all callers. If opening fails, the next caller tries again. */
export function lazy<T>(open: () => T): Lazy<T> {
  let kept: { readonly value: T } | undefined;
  const use = (): T => {
    if (kept !== undefined) return kept.value;
    const value = open();
    const mine = { value };
    kept = mine;
    if (value instanceof Promise)
      value.catch(() => {
        if (kept === mine) kept = undefined;
      });
    return value;
  };
  return Object.assign(use, { opened: () => kept?.value });
}

/** Only these can wait until the service is open. */
type Waiting<T> = { readonly [K in keyof T as T[K] extends (...args: never[]) => Promise<unknown> ? K : never]: T[K] };

/** The service's asynchronous methods; the first call of any of them opens it. */
export function whenUsed<T extends object>(open: () => Promise<T>): Waiting<T> {
  return new Proxy({} as Waiting<T>, {
    get:
      (_, name) =>
      async (...args: unknown[]): Promise<unknown> => {
        const service = await open();
        return Reflect.apply(Reflect.get(service, name) as (...args: unknown[]) => unknown, service, args);
      },
  });
}

/** Closes a service that was used. One that could not be opened has told its callers so. */
export async function closeIfOpened<T>(
  service: Pick<Lazy<Promise<T>>, "opened">,
  close: (opened: T) => Promise<void> | void,
): Promise<void> {
  const opened = await service.opened()?.catch(() => undefined);
  if (opened !== undefined) await close(opened);
}
