export type Once<T> = (() => Promise<T>) & { readonly isAsked: () => boolean };

/** Makes something when it is first asked for, and the same for everybody; what could not be made is tried again. */
export function once<T>(make: () => Promise<T>): Once<T> {
  let made: Promise<T> | undefined;
  const ask = async (): Promise<T> => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
  return Object.assign(ask, { isAsked: () => made !== undefined });
}
