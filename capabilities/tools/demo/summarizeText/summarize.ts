/** Longer texts are summarised by their beginning; the answer says so. */
export const MAX_SENTENCES = 5_000;

export type Summary = {
  summary: string;
  keywords: string[];
  sentencesInText: number;
  sentencesKept: number;
  truncated: boolean;
};

/** Picks the sentences whose words matter most to the text, and keeps them in their order. */
export function summarize(text: string, sentences: number): Summary {
  const all = segments(text, "sentence").map((sentence) => sentence.trim());
  const found = all.filter((sentence) => sentence !== "");
  const considered = found.slice(0, MAX_SENTENCES);
  const weights = weighWords(considered);
  const ranked = considered
    .map((sentence, index) => ({ index, sentence, score: scoreOf(sentence, weights) }))
    .sort((a, b) => b.score - a.score || a.index - b.index);
  const kept = ranked.slice(0, sentences).sort((a, b) => a.index - b.index);
  return {
    summary: kept.map(({ sentence }) => sentence).join(" "),
    keywords: [...weights]
      .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
      .slice(0, 5)
      .map(([word]) => word),
    sentencesInText: found.length,
    sentencesKept: kept.length,
    truncated: found.length > considered.length,
  };
}

/** How often each word occurs; short words carry grammar more than meaning, and are left out. */
function weighWords(sentences: readonly string[]): Map<string, number> {
  const weights = new Map<string, number>();
  for (const word of sentences.flatMap(wordsOf)) weights.set(word, (weights.get(word) ?? 0) + 1);
  return weights;
}

/** The root keeps long sentences from winning by length alone. */
function scoreOf(sentence: string, weights: ReadonlyMap<string, number>): number {
  const words = wordsOf(sentence);
  const total = words.reduce((sum, word) => sum + (weights.get(word) ?? 0), 0);
  return words.length === 0 ? 0 : total / Math.sqrt(words.length);
}

function wordsOf(sentence: string): string[] {
  return segments(sentence, "word")
    .map((word) => word.toLowerCase())
    .filter((word) => /\p{L}/u.test(word) && (word.length > 3 || /[^\p{Script=Latin}]/u.test(word)));
}

function segments(text: string, granularity: "sentence" | "word"): string[] {
  return [...new Intl.Segmenter(undefined, { granularity }).segment(text)].map(({ segment }) => segment);
}
