import { createHash } from "node:crypto";
import { type Embedder, type Embedding, type Logger, toErgonError } from "@ergon/core";
import type { DatabaseSchema } from "../sqlite/database/open-database.ts";
import { openSmallDatabase } from "../sqlite/database/small-database.ts";

/** Vectors that are kept; the oldest go first. */
const MAX_KEPT_VECTORS = 5_000;

export type KeptVectors = {
  /** The same embedder, only that texts which it was asked to keep are embedded once. */
  readonly around: (embedder: Embedder) => Embedder;
  readonly close: () => Promise<void>;
};

/**
 * Vectors of texts that come again at every start, such as what tools say of themselves, in a database of their own:
 * losing it costs time, never an answer.
 */
export function openKeptVectors(options: {
  readonly path: string;
  readonly logger: Logger;
  readonly maxKept?: number;
}): KeptVectors {
  const { path, logger, maxKept = MAX_KEPT_VECTORS } = options;
  const db = openSmallDatabase({ path, schema: SCHEMA, what: "store of kept vectors", logger });

  /** A shelf that fails is worth a warning, not an answer. */
  async function attempt<T>(doing: string, act: () => T, otherwise: T): Promise<T> {
    try {
      return await db.acting(doing, act);
    } catch (thrown) {
      logger.warn({ error: toErgonError(thrown, "store_unavailable").toJSON() }, "Kept vectors are not available.");
      return otherwise;
    }
  }

  function known(model: string, text: string): Embedding | undefined {
    const sql = "SELECT vector FROM vectors WHERE model = ? AND text = ?";
    const [row] = db.all<{ readonly vector: Uint8Array }>(sql, model, keyOf(text));
    if (row === undefined) return undefined;
    const { vector } = row;
    const floats = [...new Float32Array(vector.slice().buffer)];
    return { model, dimension: floats.length, vector: floats };
  }

  function keep(text: string, { model, vector }: Embedding): void {
    const bytes = new Uint8Array(Float32Array.from(vector).buffer);
    db.run("INSERT OR REPLACE INTO vectors (model, text, vector) VALUES (?, ?, ?)", model, keyOf(text), bytes);
  }

  return {
    around: (embedder) => ({
      model: embedder.model,
      embed: async (texts, asked = {}) => {
        if (asked.keep !== true || texts.length === 0) return embedder.embed(texts, asked);
        const vectors = await attempt(
          "reading kept vectors",
          () => new Map(texts.map((text) => [text, known(embedder.model, text)])),
          new Map<string, Embedding | undefined>(),
        );
        const unknown = [...new Set(texts.filter((text) => vectors.get(text) === undefined))];
        if (unknown.length > 0) {
          const made = await embedder.embed(unknown, asked);
          for (const [at, vector] of made.entries()) vectors.set(unknown[at] ?? "", vector);
          const shelve = (): void => {
            for (const [at, vector] of made.entries()) keep(unknown[at] ?? "", vector);
            db.run(FORGET, maxKept);
          };
          await attempt("keeping vectors", shelve, undefined);
        }
        return texts.flatMap((text) => vectors.get(text) ?? []);
      },
    }),
    close: db.close,
  };
}

const FORGET = "DELETE FROM vectors WHERE n <= (SELECT n FROM vectors ORDER BY n DESC LIMIT 1 OFFSET ?)";

const SCHEMA: DatabaseSchema = {
  // "ErgV"
  applicationId: 0x45726756,
  migrations: [
    {
      version: 1,
      sql: `
CREATE TABLE vectors (
  n INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  text BLOB NOT NULL,
  vector BLOB NOT NULL,
  UNIQUE (model, text)
) STRICT;
`,
    },
  ],
};

function keyOf(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
