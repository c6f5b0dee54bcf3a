/** A text as a point in one model's space. Points of different spaces are never compared. */
export type Embedding = { readonly model: string; readonly dimension: number; readonly vector: readonly number[] };

/*
 * Turns texts into embeddings.
 *
 * V1  One embedding for each text, in order, all of this embedder's model and of one dimension.
 * V2  The same text gives the same vector; every vector has length 1, the empty text's too.
 */
export type Embedder = {
  readonly model: string;
  embed(texts: readonly string[], options?: EmbedOptions): Promise<readonly Embedding[]>;
};

type EmbedOptions = {
  readonly signal?: AbortSignal;
  /** These texts come again, also after a new start: whoever can keep their vectors should. */
  readonly keep?: boolean;
};

/** A longer text is embedded by its beginning. */
export const MAX_EMBEDDED_CHARS = 8_000;

/** Cosine, from -1 to 1; undefined when the two are not of one space. */
export function similarity(a: Embedding, b: Embedding): number | undefined {
  if (a.model !== b.model || a.dimension !== b.dimension) return undefined;
  let product = 0;
  let lengthA = 0;
  let lengthB = 0;
  for (let at = 0; at < a.dimension; at += 1) {
    const left = a.vector[at] ?? 0;
    const right = b.vector[at] ?? 0;
    product += left * right;
    lengthA += left * left;
    lengthB += right * right;
  }
  return lengthA === 0 || lengthB === 0 ? 0 : product / Math.sqrt(lengthA * lengthB);
}
