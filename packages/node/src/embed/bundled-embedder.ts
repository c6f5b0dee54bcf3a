import { type Embedder, fromPack, isErgonError } from "@ergon/core";
import { modelError } from "@ergon/core/schema";
import { MAX_EMBEDDED_CHARS } from "@ergon/core/store-kit";
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
    return await withoutListeners(async () => {
      const { initModel, modelSource } = await fromPack("@ergon/encoder", () => import("@ergon/encoder"));
      const encoder = await initModel(modelSource);
      await encoder.embed(["."]);
      return encoder;
    });
  } catch (cause) {
    if (isErgonError(cause)) throw cause;
    const reason = cause instanceof Error ? cause.message : "unknown";
    throw modelError("model_unavailable", `The bundled sentence encoder could not be loaded: ${reason}`, { cause });
  }
}

const CRASH_EVENTS = ["uncaughtException", "unhandledRejection"] as const;

/** The encoder's runtime would end the process at the first promise that somebody left rejected; that is not its to say. */
async function withoutListeners<T>(load: () => Promise<T>): Promise<T> {
  const before = CRASH_EVENTS.map((event) => new Set<unknown>(process.listeners(event as "uncaughtException")));
  const loaded = await load();
  for (const [at, event] of CRASH_EVENTS.entries()) {
    for (const listener of process.listeners(event as "uncaughtException")) {
      if (before[at]?.has(listener) !== true) process.off(event, listener);
    }
  }
  return loaded;
}

/** The encoder knows no empty text. */
function prepared(text: string): string {
  const cut = text.slice(0, MAX_EMBEDDED_CHARS).trim();
  return cut === "" ? "." : cut;
}
