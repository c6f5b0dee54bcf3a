import { suggest } from "../../schema/values/suggest.ts";

/** Names compared for suggestions in one plan. A plan with thousands of mistyped names gets suggestions for some. */
const MAX_COMPARISONS = 100_000;

export type Suggester = {
  /** The name that a word most likely meant. `names` must be the same array each time. */
  readonly find: (word: string, names: readonly string[]) => string | undefined;
  /** The same as a sentence for the end of a message, with a space before it; empty when there is none. */
  readonly sentence: (word: string, names: readonly string[]) => string;
};

export function createSuggester(maxComparisons = MAX_COMPARISONS): Suggester {
  const found = new Map<readonly string[], Map<string, string | undefined>>();
  let left = maxComparisons;
  const find = (word: string, names: readonly string[]): string | undefined => {
    const known = found.get(names) ?? new Map<string, string | undefined>();
    found.set(names, known);
    if (known.has(word)) return known.get(word);
    if (names.length > left) return undefined;
    left -= names.length;
    const meant = suggest(word, names);
    known.set(word, meant);
    return meant;
  };
  return {
    find,
    sentence: (word, names) => {
      const meant = find(word, names);
      return meant === undefined ? "" : ` Did you mean "${meant}"?`;
    },
  };
}
