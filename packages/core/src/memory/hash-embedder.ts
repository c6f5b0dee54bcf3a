import { type Embedder, MAX_EMBEDDED_CHARS } from "../ports/embedder.ts";

const DIMENSION = 256;
const MODEL = "ergon/hashed-words";

/**
 * An embedder without a model: words and parts of words, hashed into a vector. Texts that share words lie close, texts
 * that only mean the same do not. It needs nothing and answers at once, so it is what runs where nothing better is given.
 */
export function createHashEmbedder(): Embedder {
  return {
    model: MODEL,
    embed: async (texts) =>
      texts.map((text) => ({
        model: MODEL,
        dimension: DIMENSION,
        vector: vectorOf(text.slice(0, MAX_EMBEDDED_CHARS)),
      })),
  };
}

function vectorOf(text: string): readonly number[] {
  const vector = Array.from({ length: DIMENSION }, () => 0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    add(vector, word, 1);
    // Parts of a word, so that its forms lie near each other.
    const padded = `^${word}$`;
    for (let at = 0; at + GRAM <= padded.length; at += 1) add(vector, padded.slice(at, at + GRAM), PART_WEIGHT);
  }
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  if (length === 0) {
    vector[0] = 1;
    return vector;
  }
  return vector.map((value) => Math.round((value / length) * PRECISION) / PRECISION);
}

const GRAM = 4;
const PART_WEIGHT = 0.4;
/** Enough digits to tell vectors apart, few enough to keep them short as text. */
const PRECISION = 1e5;

/** Half of all features count down instead of up, so that those who share a place do not add up. */
function add(vector: number[], feature: string, weight: number): void {
  const hash = fnv1a(feature);
  const place = hash % DIMENSION;
  vector[place] = (vector[place] ?? 0) + (hash & 0x8000_0000 ? -weight : weight);
}

function fnv1a(text: string): number {
  let hash = 0x811c_9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x0100_0193);
  return hash >>> 0;
}
