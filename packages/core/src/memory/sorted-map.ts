import { byteOrder } from "../store-kit/byte-order.ts";

/** A map whose keys can be walked in byte order. Adding at the end, as stories grow, costs next to nothing. */
export type SortedMap<V> = {
  readonly get: (key: string) => V | undefined;
  readonly set: (key: string, value: V) => void;
  /** Removes the keys from one place to before another. */
  readonly removeRange: (start: number, end: number) => void;
  readonly keys: () => readonly string[];
  /** How many keys sort before this one: the place where it is or would be. */
  readonly indexOf: (key: string) => number;
};

export function createSortedMap<V>(): SortedMap<V> {
  const values = new Map<string, V>();
  const keys: string[] = [];

  function indexOf(key: string): number {
    let low = 0;
    let high = keys.length;
    const last = keys[high - 1];
    if (last === undefined || byteOrder(last, key) < 0) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (byteOrder(keys[middle] ?? "", key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    get: (key) => values.get(key),
    set: (key, value) => {
      if (!values.has(key)) keys.splice(indexOf(key), 0, key);
      values.set(key, value);
    },
    removeRange: (start, end) => {
      for (const key of keys.splice(start, Math.max(0, end - start))) values.delete(key);
    },
    keys: () => keys,
    indexOf,
  };
}
