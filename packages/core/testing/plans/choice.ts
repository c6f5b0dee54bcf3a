/** Repeatable picks from one seed. The seed 0 always picks the first, so that shrinking ends at the plainest form. */
export type Choice = {
  /** An integer from 0 up to, not including, `bound`. */
  below(bound: number): number;
  of<Item>(items: readonly Item[]): Item;
  percent(chance: number): boolean;
};

export function createChoice(seed: number | string): Choice {
  let state = typeof seed === "string" ? hash(seed) : seed;
  const plainest = seed === 0;
  const next = (): number => {
    // mulberry32
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (bound: number): number => (plainest ? 0 : next() % bound);
  return {
    below,
    of(items) {
      const item = items[below(items.length)];
      if (item === undefined) throw new RangeError("there is nothing to choose from");
      return item;
    },
    percent: (chance) => !plainest && below(100) < chance,
  };
}

/** FNV-1a over UTF-16 code units. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}
