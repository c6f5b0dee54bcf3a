export type Capability = {
  readonly kind: "tool" | "plan";
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly tags: readonly string[];
};

export type RankedCapability = Capability & { readonly score: number };

const MAX_QUERY_WORDS = 64;
/** A word of the name says more than a word of the description. */
const WEIGHTS = { id: 3, title: 2, tags: 2, description: 1 } as const;

/** Those that share words with the query, the closest first; a rare word counts for more than a common one. */
export function rankCapabilities(
  capabilities: readonly Capability[],
  query: string,
  limit: number,
): readonly RankedCapability[] {
  const wanted = [...new Set(wordsOf(query))].slice(0, MAX_QUERY_WORDS);
  const indexed = capabilities.map((capability) => ({ capability, fields: fieldsOf(capability) }));
  const rarity = new Map(
    wanted.map((word) => {
      const holders = indexed.filter(({ fields }) => fields.some(({ words }) => words.has(word))).length;
      return [word, Math.log(1 + capabilities.length / (1 + holders))];
    }),
  );
  return indexed
    .map(({ capability, fields }) => ({ ...capability, score: round(scoreOf(fields, rarity)) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
    .slice(0, limit);
}

type Field = { readonly weight: number; readonly words: ReadonlySet<string> };

function fieldsOf({ id, title, tags, description }: Capability): readonly Field[] {
  return [
    { weight: WEIGHTS.id, words: new Set(wordsOf(id)) },
    { weight: WEIGHTS.title, words: new Set(wordsOf(title)) },
    { weight: WEIGHTS.tags, words: new Set(wordsOf(tags.join(" "))) },
    { weight: WEIGHTS.description, words: new Set(wordsOf(description)) },
  ];
}

function scoreOf(fields: readonly Field[], rarity: ReadonlyMap<string, number>): number {
  let score = 0;
  for (const [word, weight] of rarity) {
    score += weight * Math.max(0, ...fields.map((field) => (field.words.has(word) ? field.weight : 0)));
  }
  return score;
}

/** Lower-case words, camelCase taken apart, plural endings dropped. */
function wordsOf(text: string): readonly string[] {
  const apart = text.replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2").toLowerCase();
  return (apart.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => (word.length > 3 ? word.replace(/s$/, "") : word));
}

function round(score: number): number {
  return Math.round(score * 1_000) / 1_000;
}
